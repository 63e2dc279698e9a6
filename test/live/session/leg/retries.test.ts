// A session that no model answers: how long it asks, how often, what its client hears meanwhile, and what comes of its audio.
import { describe, expect, it } from 'vitest';
import type { EngineListener } from '../../../../src/vendors/kit/provider.ts';
import type { RigClient, RigOptions, SessionRig } from '../../../fakes/session-rig.ts';
import { failure, type Puppet, puppetRig } from '../puppet.ts';
import { expectInOrder, expectNothingLeft, RATE, speech, storyOf, untilEnded } from '../support.ts';

const LASTING = { settings: { retryMs: 15_000 }, breakers: { failuresMax: 1_000 } } satisfies RigOptions;

/** A provider that refuses every connection until it is up, after so long; and what it has seen of them. */
function downRig(answerMs = 0): {
  rig: SessionRig;
  puppet: Puppet;
  seen: { up: boolean; atMs: number[]; most: number };
} {
  const { rig, puppet } = puppetRig({ rig: LASTING, timing: { stallMs: Number.POSITIVE_INFINITY } });
  const seen = { up: false, atMs: [] as number[], most: 0 };
  const connect = puppet.connect.bind(puppet);
  let underWay = 0;
  puppet.connect = (query, listener: EngineListener) => {
    seen.atMs.push(rig.clock.now());
    if (seen.up) return connect(query, listener);
    puppet.open = false;
    const connection = connect(query, listener);
    puppet.open = true;
    underWay++;
    seen.most = Math.max(seen.most, underWay);
    const refuse = () => {
      underWay--;
      connection.over = true;
      listener.closed(1013, '');
    };
    if (answerMs === 0) queueMicrotask(refuse);
    else rig.clock.setTimeout(refuse, answerMs);
    return connection;
  };
  return { rig, puppet, seen };
}

const final = (end: number) =>
  ({
    type: 'turn.ended',
    turnId: '1',
    formattedFollows: false,
    utterance: { text: 'all', start: 0, end },
  }) as const;

describe('a model that does not answer, with no other', () => {
  it('gets retries with pauses until the time is used up; then every attempt is listed', async () => {
    const { rig, seen } = downRig();
    const client = await rig.open({ model: 'puppet/a' });
    client.session.audio(speech(1));
    await rig.advance(16_000, 100);
    expect(seen.atMs.slice(0, 6)).toEqual([0, 100, 300, 700, 1_500, 3_100]);
    expect(seen.atMs.at(-1)).toBe(13_100);
    expect(storyOf(client)).toEqual(['session_started', 'warning', 'discontinuity', 'error', 'session_ended']);
    expect(client.of('error')[0]?.error.details).toHaveLength(seen.atMs.length);
    expect(client.closeCode).toBe(4101);
    await expectNothingLeft(rig);
  });

  it('gets all the audio when it answers in time, and the client knew that it waited', async () => {
    const { rig, puppet, seen } = downRig();
    const client = await rig.open({ model: 'puppet/a' });
    for (let second = 0; second < 12; second++) {
      client.session.audio(speech(1));
      await rig.advance(1_000, 100);
    }
    seen.up = true;
    await rig.advance(2_500, 100);
    expect(puppet.last.samples).toBe(12 * RATE);
    client.session.control({ type: 'close' });
    await puppet.last.say(final(12), { type: 'finished' });
    expect(client.of('warning').map(({ code }) => code)).toEqual(['upstream_waiting', 'upstream_reconnected']);
    expect([client.closeCode, client.finals.length]).toEqual([1000, 1]);
    expectInOrder(client);
    await expectNothingLeft(rig);
  });

  it('gets retries for as long when it fails mid-session', async () => {
    const { rig, puppet, seen } = downRig();
    seen.up = true;
    const client = await rig.open({ model: 'puppet/a' });
    client.session.audio(speech(2));
    await rig.advance(20_000, 1_000);
    seen.up = false;
    await puppet.last.hangUp(1013);
    await rig.advance(10_000, 500);
    expect(client.closeCode).toBeUndefined();
    seen.up = true;
    await rig.advance(2_000, 100);
    expect(puppet.last.samples).toBe(2 * RATE);
  });

  it.each([
    ['a refused credential', failure('account'), 1],
    ['a refused option', failure('caller', 'The puppet does not take that much.'), 1],
    ['a refusal that asking again will not change', { ...failure('next'), lasting: true as const }, 2],
  ])('gets no long retries: %s ends the session at once', async (_, told, dials) => {
    const { rig, puppet } = puppetRig({ rig: LASTING });
    const client = await rig.open({ model: 'puppet/a', providerParams: { take: 1 } });
    await puppet.last.say({ type: 'failed', failure: told });
    await rig.advance(300, 100);
    if (client.closeCode === undefined) await puppet.last.say({ type: 'failed', failure: told });
    expect([client.closeCode === undefined, puppet.connections.length]).toEqual([false, dials]);
  });

  it('gets no more retries when the client has nothing to wait for', async () => {
    const { rig, seen } = downRig();
    const client = await rig.open({ model: 'puppet/a' });
    await rig.advance(5_000, 500);
    client.session.control({ type: 'close' });
    await untilEnded(rig, client, 2);
    expect([client.closeCode, client.of('warning').length, seen.atMs.length > 4]).toEqual([1000, 0, true]);
    await expectNothingLeft(rig);
  });
});

describe('many sessions whose model does not answer', () => {
  it('dial at most within the node’s budget, and all continue when it answers', async () => {
    const { rig, puppet, seen } = downRig(1_000);
    seen.up = true;
    const clients: RigClient[] = [];
    for (let count = 0; count < 60; count++) clients.push(await rig.open({ model: 'puppet/a' }));
    for (const client of clients) client.session.audio(speech(1));
    await rig.advance(100, 100);
    seen.up = false;
    for (const connection of [...puppet.connections]) await connection.hangUp(1013);
    // The first round of each is its own.
    await rig.advance(3_000, 100);
    seen.most = 0;
    await rig.advance(6_000, 100);
    expect(seen.most).toBe(12);
    seen.up = true;
    await rig.advance(4_000, 100);
    expect(clients.map(({ closeCode }) => closeCode)).toEqual(clients.map(() => undefined));
    expect(puppet.connections.filter(({ over }) => !over)).toHaveLength(60);
  });
});

describe('two models that do not answer', () => {
  it('get retries in turn until the time is used up', async () => {
    const { rig, puppet } = downRig();
    const client = await rig.open({ model: 'puppet/a', fallbacks: [{ model: 'puppet/b' }] });
    client.session.audio(speech(1));
    await untilEnded(rig, client);
    const counts = ['a', 'b'].map((model) => puppet.dialled.filter((dialled) => dialled === model).length);
    expect(counts[0]).toBe(counts[1]);
    expect(counts[0]).toBeGreaterThan(6);
    expect(client.closeCode).toBe(4101);
  });
});
