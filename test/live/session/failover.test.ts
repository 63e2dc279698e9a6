// What a session does when its legs fail: which event tells it, how often each candidate is tried, and how it ends.
import { describe, expect, it } from 'vitest';
import type { FailureKind } from '../../../machines/events.ts';
import type { ScriptOptions } from '../../../src/vendors/loopback/options.ts';
import { type RigClient, SessionRig } from '../../fakes/session-rig.ts';
import { failure, puppetRig } from './puppet.ts';
import { expectInOrder, expectNothingLeft, RATE, silence, speech, untilEnded } from './support.ts';

type Fail = NonNullable<ScriptOptions['fail']>;

/** Everything but transcripts and speech starts, with what tells one from the other. */
function told(client: RigClient): string[] {
  return client.events.flatMap((event) => {
    if (event.type === 'transcript' || event.type === 'speech_started') return [];
    if (event.type === 'failover') return [`failover ${event.reason}`];
    if (event.type === 'warning') return [`warning ${event.code}`];
    if (event.type === 'error') return [`error ${event.error.code}`];
    return [event.type];
  });
}

const attemptsOf = (client: RigClient): string[] =>
  (client.of('error')[0]?.error.details ?? []).map(({ model, reason }) => `${model} ${reason}`);

const times = (count: number, text: string): string[] => Array.from({ length: count }, () => text);
const started = 'session_started';
const reconnected = 'warning upstream_reconnected';

/** Three seconds of speech in one turn, of which the failing leg never gives the final; then `close`. */
async function play(fail: Fail, fallback: boolean): Promise<{ rig: SessionRig; client: RigClient }> {
  const rig = new SessionRig();
  const turns = [{ text: 'one two three', seconds: 3 }];
  const client = await rig.open({
    providerParams: { turns, fail: { at_seconds: 1, ...fail } },
    ...(fallback ? { fallbacks: [{ model: 'loopback/numbered', provider_params: { turn_seconds: 3 } }] } : {}),
  });
  client.session.audio(speech(2.9));
  await rig.advance(25_000, 250);
  client.session.control({ type: 'close' });
  await untilEnded(rig, client);
  return { rig, client };
}

describe('a leg that fails with no fallback', () => {
  it.each<[string, Fail, number, string, string]>([
    ['refuses', { how: 'refuse' }, 0, 'upstream_exhausted', 'upstream_closed'],
    ['never gets ready', { how: 'hang' }, 0, 'upstream_exhausted', 'connect_timeout'],
    ['fails, worth a retry', { how: 'error', kind: 'retry' }, 3, 'upstream_exhausted', 'upstream_error'],
    ['fails', { how: 'error', kind: 'next' }, 1, 'upstream_exhausted', 'upstream_error'],
    ['refuses the credential', { how: 'error', kind: 'account' }, 0, 'upstream_failed', 'upstream_error'],
    ['refuses the request', { how: 'error', kind: 'caller' }, 0, 'invalid_provider_params', 'upstream_error'],
    ['hangs up', { how: 'close' }, 1, 'upstream_exhausted', 'upstream_closed'],
    ['hangs up in order', { how: 'close', code: 1000 }, 1, 'upstream_exhausted', 'upstream_closed'],
    ['stalls', { how: 'stall' }, 1, 'upstream_exhausted', 'stalled'],
  ])(
    '%s: the session ends with every attempt, and names the turn and the audio without a final',
    async (_, fail, reconnects, code, reason) => {
      const { rig, client } = await play(fail, false);
      expect(told(client)).toEqual([
        started,
        ...times(reconnects, reconnected),
        'discontinuity',
        `error ${code}`,
        'session_ended',
      ]);
      const attempts = code !== 'upstream_exhausted' ? 1 : fail.kind === 'retry' ? 4 : 2;
      expect(attemptsOf(client)).toEqual(times(attempts, `loopback/script ${reason}`));
      expect(client.of('error')[0]?.error.message).toContain('Turn 0 has no final');
      expect(client.of('discontinuity')).toMatchObject([{ from: 0, to: 2.9, reason: code }]);
      expect(client.of('session_ended')).toMatchObject([{ reason: 'upstream', audio_seconds: 2.9 }]);
      expect(client.closeCode).toBe(fail.kind === 'caller' ? 4000 : 4101);
      expectInOrder(client);
      await expectNothingLeft(rig);
    },
  );
});

describe('a leg that fails with a fallback', () => {
  it.each<[string, Fail, string[]]>([
    ['refuses', { how: 'refuse' }, ['failover upstream_closed']],
    ['never gets ready', { how: 'hang' }, ['failover connect_timeout']],
    ['fails, worth a retry', { how: 'error', kind: 'retry' }, [reconnected, 'failover upstream_error']],
    ['fails', { how: 'error', kind: 'next' }, ['failover upstream_error']],
    ['refuses the credential', { how: 'error', kind: 'account' }, ['failover upstream_error']],
    ['hangs up', { how: 'close' }, ['failover upstream_closed']],
    ['stalls', { how: 'stall' }, ['failover stalled']],
  ])('%s: one failover event, and the fallback gives the final of all audio', async (_, fail, events) => {
    const { rig, client } = await play(fail, true);
    expect(told(client)).toEqual([started, ...events, 'session_ended']);
    const heard = fail.how === 'refuse' || fail.how === 'hang' ? 0 : 2.9;
    expect(client.of('failover')).toMatchObject([
      {
        from: 'loopback/script',
        to: 'loopback/numbered',
        replayed_seconds: heard,
        attempt: fail.kind === 'retry' ? 2 : 1,
      },
    ]);
    expect(client.finals).toMatchObject([{ turn: 0, start: 0, end: 2.9, model: 'loopback/numbered' }]);
    expect([client.closeCode, client.summary?.failovers]).toEqual([1000, 1]);
    expectInOrder(client);
    await expectNothingLeft(rig);
  });

  it('fails over no further when the request itself is at fault', async () => {
    const { client } = await play({ how: 'error', kind: 'caller' }, true);
    expect(told(client)).toEqual([started, 'discontinuity', 'error invalid_provider_params', 'session_ended']);
    expect(attemptsOf(client)).toEqual(['loopback/script upstream_error']);
  });
});

describe('a leg that never confirms the end', () => {
  const turns = (seconds: number) => [{ text: 'one', seconds }];

  it('closes when every sample has its final', async () => {
    const rig = new SessionRig();
    const client = await rig.open({ providerParams: { turns: turns(1), fail: { how: 'finish' } } });
    client.session.audio(speech(2));
    client.session.control({ type: 'close' });
    await rig.advance(11_000, 500);
    expect(told(client)).toEqual([started, 'session_ended']);
    expect([client.closeCode, client.finals.length]).toEqual([1000, 2]);
  });

  it('gives way when it owes a final: the next candidate transcribes the rest', async () => {
    const { rig, puppet } = puppetRig();
    const client = await rig.open({ model: 'puppet/a', fallbacks: [{ model: 'puppet/b' }] });
    client.session.audio(speech(2));
    await puppet.last.say({
      type: 'turn.ended',
      turnId: '1',
      formattedFollows: false,
      utterance: { text: 'a', start: 0, end: 1.5 },
    });
    client.session.control({ type: 'close' });
    await rig.advance(11_000, 500);
    expect(client.of('failover')).toMatchObject([{ reason: 'stalled', replayed_seconds: 0.5 }]);
    expect([puppet.last.samples, puppet.last.controls]).toEqual([RATE / 2, ['finish']]);
    await puppet.last.say(
      { type: 'turn.ended', turnId: '1', formattedFollows: false, utterance: { text: 'b', start: 0, end: 0.4 } },
      { type: 'finished' },
    );
    expect(client.finals).toMatchObject([{ text: 'a' }, { text: 'b', start: 1.5, end: 1.9 }]);
    expect(client.closeCode).toBe(1000);
  });
});

/** A session whose legs fail in their turn, each as soon as it is ready; gives the model and the time of each. */
async function failing(kinds: FailureKind[], chain: string[], advanceMs = 8_000) {
  const dials: string[] = [];
  const { rig, puppet } = puppetRig({
    codec: {
      open: (request) => {
        dials.push(`${request.model}@${rig?.clock.now() ?? 0}`);
        return { state: {}, endpoint: { kind: 'embedded', engine: 'puppet', query: {} }, hello: [] };
      },
      read: (_, message) => {
        const kind = kinds.shift();
        return kind === undefined || !('json' in message)
          ? (message as { json: never }).json
          : [{ type: 'failed', failure: failure(kind) }];
      },
    },
  });
  const [model, ...fallbacks] = chain as [string, ...string[]];
  const client = await rig.open({ model, fallbacks: fallbacks.map((each) => ({ model: each })) });
  // Each member was looked at once before the first was dialled.
  dials.splice(0, chain.length);
  await rig.advance(advanceMs, 10);
  return { rig, puppet, client, dials };
}

describe('the budget of an incident', () => {
  it.each<[string, FailureKind[], string[], string[]]>([
    [
      'one model, worth retries: twice a round, with growing pauses',
      times(4, 'retry') as FailureKind[],
      ['puppet/a'],
      ['a@100', 'a@300', 'a@700'],
    ],
    ['one model: once a round', ['next', 'next'], ['puppet/a'], ['a@100']],
    [
      'two models: each at once, the list once more after a pause',
      times(4, 'next') as FailureKind[],
      ['puppet/a', 'puppet/b'],
      ['b@0', 'a@200', 'b@200'],
    ],
    [
      'a credential that was refused is not tried again',
      ['account', 'next', 'next'],
      ['puppet/a', 'puppet/b'],
      ['b@0', 'b@200'],
    ],
    [
      'a refused credential in the middle is passed over',
      ['next', 'account', 'next', 'next', 'next'],
      ['puppet/a', 'puppet/b', 'puppet/c'],
      ['b@0', 'c@0', 'a@400', 'c@400'],
    ],
    [
      'with every credential refused there is nothing to begin again',
      ['account', 'account'],
      ['puppet/a', 'puppet/b'],
      ['b@0'],
    ],
  ])('%s', async (_, kinds, chain, later) => {
    const attempts = kinds.length;
    const { rig, client, dials } = await failing([...kinds], chain);
    expect(dials).toEqual(['a@0', ...later]);
    expect([client.closeCode, attemptsOf(client).length]).toEqual([4101, attempts]);
    expect(client.of('error')[0]?.error.code).toBe('upstream_exhausted');
    await expectNothingLeft(rig);
  });

  it('refills once a turn has its final', async () => {
    const { rig, puppet } = puppetRig();
    const client = await rig.open({ model: 'puppet/a' });
    for (let incident = 0; incident < 20; incident++) {
      client.session.audio(silence(1));
      await rig.advance(10, 10);
      await puppet.last.say({
        type: 'turn.ended',
        turnId: '1',
        formattedFollows: false,
        utterance: { text: 'a', start: 0, end: 1 },
      });
      await puppet.last.hangUp(1011);
      await rig.advance(200, 10);
    }
    expect(client.closeCode).toBeUndefined();
    expect(client.of('warning').map(({ code }) => code)).toEqual(times(20, 'upstream_reconnected'));
    expect(client.finals).toHaveLength(20);
    expectInOrder(client);
    client.session.control({ type: 'close' });
    await puppet.last.say({ type: 'finished' });
    await expectNothingLeft(rig);
  });

  it('does not refill without speech: a flapping session ends with every attempt', async () => {
    const { rig, puppet } = puppetRig();
    const client = await rig.open({ model: 'puppet/a', fallbacks: [{ model: 'puppet/b' }] });
    for (let flap = 0; flap < 10 && client.closeCode === undefined; flap++) {
      await puppet.last.hangUp(1006);
      await rig.advance(3_000, 100);
    }
    expect(attemptsOf(client)).toEqual(['a', 'b', 'a', 'b'].map((model) => `puppet/${model} upstream_closed`));
    expect(client.of('failover').map(({ from, to }) => `${from}>${to}`)).toEqual([
      'puppet/a>puppet/b',
      'puppet/b>puppet/a',
      'puppet/a>puppet/b',
    ]);
    await expectNothingLeft(rig);
  });
});

describe('a close while there is no leg', () => {
  it.each<[string, Fail, number]>([
    ['while it dials', { how: 'hang' }, 100],
    ['while it backs off', { how: 'refuse' }, 50],
  ])('%s: reports the audio that got no transcript, then ends', async (_, fail, afterMs) => {
    const rig = new SessionRig();
    const client = await rig.open({ providerParams: { fail } });
    client.session.audio(silence(1));
    await rig.advance(afterMs, 10);
    client.session.control({ type: 'close' });
    await untilEnded(rig, client);
    expect(told(client)).toEqual([started, 'discontinuity', 'error upstream_exhausted', 'session_ended']);
    expect(client.closeCode).toBe(4101);
    await expectNothingLeft(rig);
  });

  it('ends in order without another dial when no audio is owed a final', async () => {
    const rig = new SessionRig();
    const client = await rig.open({ providerParams: { fail: { how: 'refuse' } } });
    client.session.control({ type: 'close' });
    await untilEnded(rig, client);
    expect(told(client)).toEqual([started, 'session_ended']);
    expect([client.closeCode, client.of('session_ended')[0]?.reason]).toEqual([1000, 'client_closed']);
  });

  it('waits for the fallback, and delivers everything', async () => {
    const { rig, puppet } = puppetRig();
    puppet.ready = false;
    const client = await rig.open({ model: 'puppet/a', fallbacks: [{ model: 'puppet/b' }] });
    client.session.audio(silence(1));
    client.session.control({ type: 'close' });
    await puppet.last.say({ type: 'failed', failure: failure('next') });
    await rig.advance(1_000);
    await puppet.last.say({ type: 'ready' });
    expect([puppet.last.samples, puppet.last.controls]).toEqual([RATE, ['finish']]);
    await puppet.last.say(
      { type: 'turn.ended', turnId: '1', formattedFollows: false, utterance: { text: 'a', start: 0, end: 1 } },
      { type: 'finished' },
    );
    expect(told(client)).toEqual([started, 'failover upstream_error', 'session_ended']);
    expect([client.closeCode, client.finals.length]).toEqual([1000, 1]);
  });
});
