// What a session does about failed legs at awkward moments: while it waits, ends, backs off; and what the client is told.
import { describe, expect, it } from 'vitest';
import type { LegFailure } from '../../../machines/events.ts';
import type { ErrorEvent } from '../../../src/api/listen-events.ts';
import type { RigClient } from '../../fakes/session-rig.ts';
import { failure, optionRefused, type PuppetConnection, puppetRig, WITH_OPTION } from './puppet.ts';
import { expectInOrder, expectNothingLeft, RATE, silence, speech, untilEnded } from './support.ts';

const final = (turnId: string, end: number, text = 'a') =>
  ({ type: 'turn.ended', turnId, formattedFollows: false, utterance: { text, start: 0, end } }) as const;
const chain = (...models: string[]) => ({
  model: `puppet/${models[0]}`,
  fallbacks: models.slice(1).map((model) => ({ model: `puppet/${model}` })),
});
const lastError = (client: RigClient): ErrorEventError | undefined => client.of('error').at(-1)?.error;
type ErrorEventError = (typeof ErrorEvent)['static']['error'];
const finalizes = (connection: PuppetConnection) => connection.controls.filter((each) => each === 'finalize').length;

describe('a model that takes audio and says nothing', () => {
  it('fails within its budget, though the client speaks late and for long', async () => {
    const { rig } = puppetRig();
    const client = await rig.open(chain('a'));
    for (let seconds = 0; client.summary === undefined && seconds < 60; seconds++) {
      client.session.audio(seconds < 3 ? silence(1) : speech(1));
      await rig.advance(1_000, 250);
    }
    expect([client.closeCode, lastError(client)?.code]).toEqual([4101, 'upstream_exhausted']);
    await expectNothingLeft(rig);
  });

  it('opens its breaker, so that further sessions begin with their fallback', async () => {
    const { rig, puppet } = puppetRig({ rig: { breakers: { failuresMax: 2 } } });
    for (let session = 0; session < 2; session++) {
      const client = await rig.open(chain('a', 'b'));
      for (let seconds = 0; seconds < 14; seconds++) {
        client.session.audio(speech(1));
        await rig.advance(1_000, 250);
      }
      expect(client.of('failover')).toMatchObject([{ reason: 'stalled' }]);
      await puppet.last.say(final('1', 1));
    }
    expect((await rig.open(chain('a', 'b'))).of('failover')).toMatchObject([{ reason: 'circuit_open' }]);
  });
});

describe('sessions that wait for their turn to dial', () => {
  it('stop dialling when their node stops', async () => {
    const { rig, puppet } = puppetRig({ rig: { dialsMax: 1 } });
    puppet.ready = false;
    for (let session = 0; session < 50; session++) await rig.open(chain('a'));
    expect([puppet.connections.length, rig.dials.waiting]).toEqual([1, 49]);
    rig.sessions.close();
    await rig.advance(100, 10);
    expect([puppet.connections.length, rig.upstream.size, rig.dials.waiting]).toEqual([1, 0, 0]);
    await expectNothingLeft(rig);
  });

  it('keep their turn where every other model is blocked or was tried', async () => {
    const { rig, puppet } = puppetRig({ rig: { dialsMax: 1, breakers: { failuresMax: 1 } } });
    puppet.ready = false;
    const busy = await rig.open(chain('b'));
    const client = await rig.open(chain('a', 'b'));
    await puppet.last.say({ type: 'failed', failure: failure('account') });
    // `b` is waited for, and fails for the session before.
    await puppet.connections[0]?.say({ type: 'failed', failure: failure('next') });
    expect(busy.closeCode).toBeUndefined();
    expect(puppet.connections.length).toBe(3);
    await puppet.last.say({ type: 'ready' });
    expect(client.of('failover')).toMatchObject([{ from: 'puppet/a', to: 'puppet/b', reason: 'upstream_error' }]);
  });
});

it('limits retries of the same model to the budget, for any number of failures', async () => {
  const { rig, puppet } = puppetRig({ rig: { breakers: { failuresMax: 1_000 } } });
  for (let session = 0; session < 60; session++) await rig.open(chain('a', 'b'));
  const lost = puppet.connections.slice();
  puppet.ready = false;
  for (const connection of lost) connection.listener.message([{ type: 'failed', failure: failure('retry') }]);
  await rig.advance(100, 100);
  const again = puppet.dialled.slice(60).filter((model) => model === 'a').length;
  expect([again, puppet.dialled.length]).toEqual([12, 120]);
});

describe('a failover event', () => {
  it('names the failure of the model that the client knew, across further failures', async () => {
    const { rig, puppet } = puppetRig();
    const client = await rig.open(chain('a', 'b', 'c'));
    puppet.open = false;
    await puppet.last.hangUp(1006);
    puppet.open = true;
    await rig.advance(6_000, 500);
    expect(client.of('failover')).toMatchObject([
      { from: 'puppet/a', to: 'puppet/c', reason: 'upstream_closed', attempt: 2 },
    ]);
  });

  it('does not occur when the requested model connects at the second try', async () => {
    const { rig, puppet } = puppetRig();
    puppet.ready = false;
    const client = await rig.open(chain('a'));
    await puppet.last.say({ type: 'failed', failure: failure('retry') });
    puppet.ready = true;
    await rig.advance(500, 100);
    expect([puppet.connections.length, client.events.map(({ type }) => type)]).toEqual([2, ['session_started']]);
  });
});

describe('an end of a turn that the client asks for', () => {
  it('reaches the leg each time, also when requested before a leg existed', async () => {
    const { rig, puppet } = puppetRig();
    puppet.ready = false;
    const client = await rig.open(chain('a'));
    for (let turn = 0; turn < 2; turn++) {
      client.session.audio(speech(1));
      client.session.control({ type: 'finalize' });
    }
    await puppet.last.say({ type: 'ready' });
    await rig.advance(100, 10);
    expect(puppet.last.controlsAt.map((samples) => samples / RATE)).toEqual([1, 2]);
  });

  it('reaches the next leg again, for every turn without a final', async () => {
    const { rig, puppet } = puppetRig();
    const client = await rig.open(chain('a', 'b'));
    for (let turn = 0; turn < 3; turn++) {
      client.session.audio(speech(1));
      client.session.control({ type: 'finalize' });
      await rig.advance(100, 10);
    }
    await puppet.last.say(final('1', 1));
    await puppet.last.say({ type: 'failed', failure: failure('next') });
    await rig.advance(100, 10);
    expect([puppet.connections.length, puppet.last.controlsAt.map((samples) => samples / RATE)]).toEqual([2, [1, 2]]);
  });

  it('stops counting beyond a bound, and reports the drops', async () => {
    const { rig, puppet } = puppetRig();
    puppet.ready = false;
    const client = await rig.open(chain('a'));
    for (let turn = 0; turn < 300; turn++) {
      client.session.audio(speech(0.01));
      client.session.control({ type: 'finalize' });
    }
    expect(rig.drops).toMatchObject({ finalize: 44 });
    await puppet.last.say({ type: 'ready' });
    await rig.advance(100, 10);
    expect(finalizes(puppet.last)).toBe(256);
  });
});

describe('the end of a session', () => {
  it('blames no model that hangs up when no final is owed', async () => {
    const { rig, puppet } = puppetRig({ rig: { breakers: { failuresMax: 2 } } });
    for (let session = 0; session < 4; session++) {
      const client = await rig.open(chain('a'));
      client.session.audio(silence(1));
      await rig.advance(100, 10);
      await puppet.last.say(final('1', 1));
      client.session.control({ type: 'close' });
      await puppet.last.hangUp(1006);
      expect(client.closeCode).toBe(1000);
    }
    expect(rig.breakers.size).toBe(0);
  });

  it('blames the model when words never became final', async () => {
    const { rig, puppet } = puppetRig();
    const client = await rig.open(chain('a', 'b'));
    client.session.audio(silence(1));
    client.session.control({ type: 'close' });
    await puppet.last.say({ type: 'partial', turnId: '1', utterance: { text: 'half', start: 0, end: 1 } });
    await puppet.last.say({ type: 'finished' });
    // That of the organisation, and the shared one.
    expect(rig.breakers.size).toBe(2);
    await rig.advance(200, 50);
    await puppet.last.say(final('1', 1), { type: 'finished' });
    expect([client.closeCode, client.finals.length]).toEqual([1000, 1]);
  });

  it('comes at once when every sample has its final, though the model is lost and cannot be reached', async () => {
    const { rig, puppet } = puppetRig();
    const client = await rig.open(chain('a'));
    client.session.audio(silence(1));
    await rig.advance(100, 10);
    await puppet.last.say(final('1', 1));
    puppet.open = false;
    await puppet.last.hangUp(1006);
    await rig.advance(200, 10);
    client.session.control({ type: 'close' });
    await rig.advance(10, 10);
    expect([client.closeCode, client.of('error')]).toEqual([1000, []]);
    await expectNothingLeft(rig);
  });

  it('waits on a draining node for speech that no leg has received yet', async () => {
    const { rig, puppet } = puppetRig();
    puppet.ready = false;
    const client = await rig.open(chain('a'));
    client.session.audio(speech(2));
    client.session.drain();
    client.session.audio(speech(1));
    await puppet.last.say({ type: 'ready' });
    await rig.advance(100, 10);
    expect(puppet.last.samples).toBe(3 * RATE);
    await puppet.last.say(final('1', 3), { type: 'finished' });
    expect(client.finals).toMatchObject([{ end: 3 }]);
  });
});

describe('a refusal by a model', () => {
  it('ends the session where it names an option of the customer’s, and no other model has taken the same request', async () => {
    const { rig, puppet } = puppetRig();
    const client = await rig.open({ ...chain('a', 'b'), ...WITH_OPTION });
    await puppet.last.say({ type: 'failed', failure: optionRefused });
    expect([client.closeCode, lastError(client)?.code]).toEqual([4000, 'invalid_provider_params']);
  });

  it.each<[string, object, LegFailure]>([
    ['names nothing', WITH_OPTION, failure('caller')],
    ['names an option that the customer did not set', {}, optionRefused],
  ])('goes to the next model where it %s', async (_, asked, refused) => {
    const { rig, puppet } = puppetRig();
    const client = await rig.open({ ...chain('a', 'b'), ...asked });
    await puppet.last.say({ type: 'failed', failure: refused });
    expect(client.closeCode).toBeUndefined();
    expect(puppet.dialled).toEqual(['a', 'b']);
  });

  it('counts nothing against the model, however often', async () => {
    const { rig, puppet } = puppetRig();
    for (let times = 0; times < 10; times++) {
      await rig.open(chain('a', 'b'));
      await puppet.last.say({ type: 'failed', failure: failure('caller') });
    }
    expect(puppet.dialled).toHaveLength(20);
    expect(rig.breakers.isOpen({ slug: 'puppet/a', credentialId: 'service' })).toBe(false);
  });

  it('moves to another model that accepts it', async () => {
    const { rig, puppet } = puppetRig();
    const client = await rig.open({
      model: 'puppet/a',
      fallbacks: ['b', 'c'].map((model) => ({ model: `puppet/${model}`, provider_params: { take: 1 } })),
    });
    await puppet.last.hangUp(1006);
    await puppet.last.say({ type: 'failed', failure: optionRefused });
    expect(client.closeCode).toBeUndefined();
    expect(client.of('failover').map(({ to }) => to)).toEqual(['puppet/b', 'puppet/c']);
  });
});

it('waits a few seconds for a provider that requests them, without another model', async () => {
  const { rig, puppet } = puppetRig();
  const client = await rig.open(chain('a'));
  await puppet.last.say({ type: 'failed', failure: { ...failure('next'), retryAfterMs: 4_000 } });
  await rig.advance(3_900, 100);
  expect(puppet.connections).toHaveLength(1);
  await rig.advance(200, 100);
  expect([puppet.connections.length, client.closeCode]).toEqual([2, undefined]);
});

it('audio that the bound on replays has dropped is named and not billed', async () => {
  const { rig, puppet } = puppetRig({
    timing: { stallMs: Number.POSITIVE_INFINITY },
    card: { pricing: { currency: 'USD', live: { unit: 'minute', amount: '0.06', byok: '0.00' } } },
    rig: { settings: { replayMs: 10_000, replaySpoolMs: 0, idleMs: 100_000 } },
  });
  const client = await rig.open(chain('a', 'b'));
  for (let seconds = 0; seconds < 30; seconds++) {
    client.session.audio(speech(1));
    await rig.advance(100, 100);
  }
  await puppet.last.say({ type: 'failed', failure: failure('next') });
  expect(client.of('discontinuity')).toMatchObject([{ from: 0, to: 20, reason: 'replay_exceeded' }]);
  client.session.control({ type: 'close' });
  await puppet.last.say(final('1', 10), { type: 'finished' });
  expect(client.of('session_ended')).toMatchObject([
    { usage: [{ model: 'puppet/b', seconds: 10, cost_usd: '0.01' }], cost_usd: '0.01' },
  ]);
});

it('attempts of an incident that is over are not listed with the next one', async () => {
  const { rig, puppet } = puppetRig();
  const client = await rig.open(chain('a'));
  for (let turn = 0; turn < 4; turn++) {
    client.session.audio(speech(1));
    await rig.advance(100, 100);
    // Its formatted version never comes: the final is given when the leg is lost.
    await puppet.last.say({ ...final('1', 1), formattedFollows: true });
    await puppet.last.hangUp(1006);
    await rig.advance(200, 100);
  }
  expect(client.finals).toHaveLength(4);
  puppet.open = false;
  client.session.audio(speech(1));
  await rig.advance(100, 100);
  await puppet.last.hangUp(1006);
  await untilEnded(rig, client);
  expect(lastError(client)?.details).toHaveLength(2);
  expectInOrder(client);
});

it('replays a turn that completed while an earlier formatted final was pending', async () => {
  const { rig, puppet } = puppetRig({
    timing: { sessionMaxMs: 3_600_000, stallMs: Number.POSITIVE_INFINITY },
    rig: { settings: { idleMs: 4_000_000 } },
  });
  const client = await rig.open(chain('a'));
  client.session.audio(speech(4));
  await rig.advance(3_541_000, 1_000);
  await puppet.last.say({ ...final('1', 2, 'one'), formattedFollows: true });
  await puppet.last.say(final('2', 3, 'two'));
  expect(puppet.connections.length).toBeGreaterThan(1);
  await puppet.last.say(final('1', 1, 'two'));
  client.session.control({ type: 'close' });
  await puppet.last.say(final('2', 2, 'three'), { type: 'finished' });
  expect(client.finals.map(({ text }) => text)).toEqual(['one', 'two', 'three']);
  expectInOrder(client);
});

it('ends the session with internal_error on a throw in a report, and logs it', async () => {
  const { rig, puppet } = puppetRig();
  const client = await rig.open(chain('a'));
  client.session.audio(speech(1));
  await rig.advance(100, 100);
  await puppet.last.say({
    type: 'turn.ended',
    turnId: '1',
    formattedFollows: false,
    utterance: { text: null, start: 0, end: 1 },
  } as never);
  expect([client.closeCode, rig.faults.map(({ name }) => name)]).toEqual([1011, ['report']]);
  await expectNothingLeft(rig);
});

it('never shortens what a client saw of a turn while another leg transcribes it again', async () => {
  const { rig, puppet } = puppetRig();
  const client = await rig.open(chain('a', 'b'));
  client.session.audio(speech(4));
  await rig.advance(100, 100);
  const partial = (end: number, text: string) =>
    ({ type: 'partial', turnId: '1', utterance: { text, start: 0, end } }) as const;
  await puppet.last.say(partial(1, 'set'), partial(2, 'set the lamp'));
  await puppet.last.say({ type: 'failed', failure: failure('next') });
  await puppet.last.say(
    partial(0.5, 'set'),
    partial(1.5, 'set the'),
    partial(2, 'set the lamp'),
    partial(3, 'set the lamp to'),
  );
  await puppet.last.say(final('1', 4, 'set the lamp to red'), partial(0.1, 'late'));
  expect(client.of('transcript').map(({ text, turn }) => `${turn} ${text}`)).toEqual([
    '0 set',
    '0 set the lamp',
    '0 set the lamp',
    '0 set the lamp to',
    '0 set the lamp to red',
  ]);
});

it.each([0, 3, 21])('leaves a silent leg at its limit after speech began, %i s into the audio', async (quiet) => {
  const { rig, puppet } = puppetRig();
  const client = await rig.open(chain('a', 'b'));
  const chunks = [...new Array(quiet * 10).fill(silence(0.1)), ...new Array(100).fill(speech(0.1))];
  let leftAfterMs: number | undefined;
  for (const [index, chunk] of chunks.entries()) {
    client.session.audio(chunk);
    await rig.advance(100, 100);
    if (puppet.connections.length > 1) leftAfterMs ??= (index + 1) * 100 - quiet * 1_000;
  }
  expect(leftAfterMs).toBeGreaterThanOrEqual(8_000);
  expect(leftAfterMs).toBeLessThanOrEqual(8_200);
});

describe('a model that loses its connections', () => {
  /** Someone speaks without a pause; each connection lasts for so many seconds, and is sent audio at twice the pace of speech. */
  const lose = async (...lifetimes: number[]): Promise<RigClient> => {
    const { rig, puppet } = puppetRig({ timing: { stallMs: Number.POSITIVE_INFINITY, speedMax: 2 } });
    const client = await rig.open(chain('a', 'b'));
    for (const seconds of lifetimes) {
      for (let second = 0; second < seconds; second++) {
        client.session.audio(speech(1));
        await rig.advance(1_000, 250);
      }
      await puppet.last.say({ type: 'failed', failure: failure('retry') });
    }
    await rig.advance(1_000, 250);
    return client;
  };

  it('gives way to the next one when it fails before the audio of its first loss', async () => {
    expect((await lose(50, 20)).of('failover')).toMatchObject([
      { from: 'puppet/a', to: 'puppet/b', reason: 'upstream_error' },
    ]);
  });

  it('gets one more attempt each time when it fails at later audio', async () => {
    expect((await lose(20, 60, 150)).of('failover')).toEqual([]);
  });

  it('reconnects each time when it fails repeatedly in a pause', async () => {
    const { rig, puppet } = puppetRig({
      timing: { stallMs: Number.POSITIVE_INFINITY },
      rig: { settings: { idleMs: 4_000_000 } },
    });
    const client = await rig.open(chain('a'));
    client.session.audio(speech(1));
    await rig.advance(1_000, 250);
    await puppet.last.say(final('1', 1));
    for (let losses = 1; losses <= 8; losses++) {
      await rig.advance(15_000, 1_000);
      await puppet.last.say({ type: 'failed', failure: failure('retry') });
      await rig.advance(1_000, 250);
    }
    expect([client.summary, puppet.connections.length]).toEqual([undefined, 9]);
  });
});
