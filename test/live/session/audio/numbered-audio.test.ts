// The promise that no sample is lost, repeated or shifted between a client and its provider, whatever the chunks, the
// cadence and the failures in between.
import { describe, expect, it } from 'vitest';
import { numberedAudio } from '../../../fakes/audio/numbered-audio.ts';
import { expectWhole } from '../../../fakes/audio/numbered-finals.ts';
import { drawn } from '../../../fakes/drawn.ts';
import { type Random, seeded } from '../../../fakes/random.ts';
import { type RigClient, SessionRig } from '../../../fakes/session-rig.ts';

const RATE = 16_000;
const SESSIONS = drawn(200);
/** Each moves the clock of all: many more would leave one without audio for longer than a session may be. */
const TOGETHER = 40;
const FAILURES = drawn(150);

/** Sends `samples` of numbered audio in chunks of random length, odd ones included, at a random cadence. */
async function sendRandomly(
  rig: SessionRig,
  client: RigClient,
  samples: number,
  random: Random,
  chunkBytesMax = 70_000,
): Promise<void> {
  const bytes = numberedAudio(0, samples);
  const impatience = random.pick([0.02, 0.2, 1]);
  for (let at = 0; at < bytes.length; ) {
    const size = random.pick([1, 2, 3, random.integer(1, 700), random.integer(1, chunkBytesMax)]);
    client.session.audio(bytes.subarray(at, at + size));
    at += size;
    if (random.next() < impatience) await rig.advance(random.integer(0, 400), 200);
    if (random.next() < 0.01) client.session.control({ type: 'finalize' });
  }
  client.session.control({ type: 'close' });
}

async function untilEnded(rig: SessionRig, client: RigClient): Promise<void> {
  for (let waited = 0; client.closeCode === undefined && waited < 600; waited++) await rig.advance(1_000, 200);
}

async function arrivesWhole(rig: SessionRig, random: Random): Promise<void> {
  const client = await rig.open({
    model: 'loopback/numbered',
    interimResults: random.next() < 0.5,
    providerParams: { turn_seconds: random.pick([0.5, 1.7, 5]), final_delay_ms: random.pick([0, 300, 2_000]) },
  });
  await sendRandomly(rig, client, 60 * RATE, random);
  await untilEnded(rig, client);
  expect(client.closeCode).toBe(1000);
  expect(client.of('discontinuity')).toEqual([]);
  expectWhole(client.finals, 60 * RATE);
}

describe('numbered audio', () => {
  it('arrives whole from sessions of 60 s in random chunks of 1 to 70,000 bytes at any cadence', async () => {
    for (let first = 0; first < SESSIONS; first += TOGETHER) {
      const rig = new SessionRig();
      const seeds = Array.from({ length: Math.min(TOGETHER, SESSIONS - first) }, (_, at) => first + at);
      await Promise.all(seeds.map((seed) => arrivesWhole(rig, seeded(seed))));
      expect(rig.faults).toEqual([]);
      expect([rig.sessions.size, rig.upstream.size, rig.engine.connections]).toEqual([0, 0, 0]);
    }
  });

  it.each(['close', 'error', 'stall'] as const)(
    'arrives whole when the first model fails by %s, at any moment',
    async (how) => {
      for (let seed = 0; seed < FAILURES; seed++) {
        const rig = new SessionRig();
        const random = seeded(seed);
        const at = random.next() * 9;
        const client = await rig.open({
          model: 'loopback/numbered',
          providerParams: { turn_seconds: 1.3, fail: { how, at_seconds: at }, final_delay_ms: random.pick([0, 500]) },
          fallbacks: [{ model: 'loopback/numbered', provider_params: { turn_seconds: random.pick([0.7, 2]) } }],
        });
        await loud(rig, client, 10 * RATE, random);
        await untilEnded(rig, client);
        expect(client.closeCode, `seed ${seed}`).toBe(1000);
        expect(client.of('failover'), `seed ${seed}`).toHaveLength(1);
        expectWhole(client.finals, 10 * RATE);
      }
    },
  );
});

/** As `sendRandomly`, in real time, so that a stall is noticed while audio flows. */
async function loud(rig: SessionRig, client: RigClient, samples: number, random: Random): Promise<void> {
  const bytes = numberedAudio(0, samples);
  for (let at = 0; at < bytes.length; ) {
    const size = random.integer(1, 12_000);
    client.session.audio(bytes.subarray(at, at + size));
    at += size;
    await rig.advance(Math.ceil(size / 32));
  }
  await rig.advance(12_000, 500);
  client.session.control({ type: 'close' });
}
