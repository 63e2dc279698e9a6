// Sessions whose legs are on other nodes, over a bus that loses, repeats, swaps and holds letters, and goes away: every sample
// is in exactly one final, nobody hears of an exhausted provider, and nothing is left behind.

import { describe, expect, it } from 'vitest';
import { numberedAudio } from '../../../fakes/audio/numbered-audio.ts';
import { expectWhole } from '../../../fakes/audio/numbered-finals.ts';
import { drawn } from '../../../fakes/drawn.ts';
import { FarRig, NOTHING_FAR_LEFT } from '../../../fakes/far-rig.ts';
import { seeded } from '../../../fakes/random.ts';
import { expectInOrder, RATE } from '../support.ts';

const SEEDS = drawn(300);
const GROUPS = 10;
const TENTHS = 80;

async function run(seed: number): Promise<{ faults: number; legs: number; batches: number }> {
  const random = seeded(seed);
  const world = new FarRig({ nodes: random.integer(1, 3), random });
  const { rig, network } = world;
  const client = await rig.open({
    model: 'loopback/numbered',
    turnEvents: random.next() < 0.5,
    providerParams: { turn_seconds: random.pick([0.7, 1.3, 2.9]), final_delay_ms: random.pick([0, 200]) },
  });
  const rate = random.pick([0, 0.002, 0.01]);
  network.faults = { drop: rate, duplicate: random.pick([0, rate]), swap: random.pick([0, rate]) };
  const bytes = numberedAudio(0, (TENTHS / 10) * RATE);
  let mend: (() => void) | undefined;
  let mendAt = 0;
  let sent = 0;
  for (let tenth = 0; tenth < TENTHS; tenth++) {
    const to =
      tenth === TENTHS - 1 ? bytes.length : Math.min(bytes.length, (tenth + 1) * 3_200 - random.integer(0, 999));
    client.session.audio(bytes.subarray(sent, to));
    sent = to;
    if (tenth === mendAt) mend?.();
    if (mendAt <= tenth && random.next() < 0.03) {
      mendAt = tenth + random.integer(1, 60);
      mend = trouble(world, random.integer(0, 3), random.next() < 0.5);
    }
    await rig.advance(100, 50);
  }
  mend?.();
  network.thaw();
  network.heal();
  client.session.control({ type: 'close' });
  for (let waited = 0; client.closeCode === undefined && waited < 120; waited++) await rig.advance(500, 100);
  expect({ seed, code: client.closeCode, errors: client.of('error') }).toEqual({ seed, code: 1000, errors: [] });
  expect(client.of('discontinuity')).toEqual([]);
  expectWhole(client.finals, (TENTHS / 10) * RATE);
  expectInOrder(client);
  // A leg whose session has gone without its hearing of it lives ten seconds longer.
  await rig.advance(12_000, 500);
  rig.breakers.close();
  expect({ seed, ...world.leftBehind() }).toEqual({ seed, ...NOTHING_FAR_LEFT });
  const { dropped, duplicated, swapped, batches } = network.counts;
  return { faults: dropped + duplicated + swapped, legs: client.of('warning').length, batches };
}

/** Something that ails the whole bus, and what ends it. */
function trouble(world: FarRig, kind: number, keep: boolean): () => void {
  const { network, edge } = world;
  if (kind === 0) {
    network.freeze();
    return () => network.thaw(keep);
  }
  const bus = kind === 1 ? edge : world.node(0).bus;
  bus.cut();
  return () => bus.mend();
}

describe('a lossy bus', () => {
  const counted = { faults: 0, legs: 0, batches: 0 };

  it.each(Array.from({ length: GROUPS }, (_, group) => group))(
    `costs no sample, and repeats none: group %i of ${GROUPS}`,
    async (group) => {
      for (let seed = group; seed < SEEDS; seed += GROUPS) {
        const { faults, legs, batches } = await run(seed);
        counted.faults += faults;
        counted.legs += legs;
        counted.batches += batches;
      }
    },
    120_000,
  );

  it('loses, repeats and swaps letters, several at once, and legs with them', () => {
    expect(counted.faults).toBeGreaterThan(SEEDS / 2);
    expect(counted.batches).toBeGreaterThan(SEEDS);
    expect(counted.legs).toBeGreaterThan(SEEDS / 2);
  });
});
