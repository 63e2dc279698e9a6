// Audio and money of a watched session: the figures never fall across failovers. At the end nothing is held and the cost is the charge.
import { describe, expect, it } from 'vitest';
import { MemoryLedger } from '../../../fakes/store/memory-ledger.ts';
import { failure, puppetRig } from '../puppet.ts';
import { speech, untilEnded } from '../support.ts';
import { watchable } from './watchable.ts';

const final = (turnId: string, end: number) =>
  ({ type: 'turn.ended', turnId, formattedFollows: false, utterance: { text: 'a', start: 0, end } }) as const;
const CHAIN = { model: 'puppet/a', fallbacks: [{ model: 'puppet/b' }, { model: 'puppet/c' }] };
const minute = (amount: string) => ({
  live: { unit: 'minute', amount, ...(amount === '0' ? { free: true } : {}) } as const,
});

/** A watched session over three models that fail with unsettled audio. */
async function watched(prices: [string, string, string]) {
  const [a, b, c] = prices;
  const { rig, puppet } = puppetRig({
    timing: { stallMs: Number.POSITIVE_INFINITY },
    rig: {
      ledger: new MemoryLedger(10_000_000n),
      prices: { 'puppet/a': minute(a), 'puppet/b': minute(b), 'puppet/c': minute(c) },
      settings: { idleMs: 600_000, suspendMs: 600_000 },
    },
  });
  const { watch } = watchable(rig);
  const client = await rig.open(CHAIN);
  const speak = async (seconds: number) => {
    for (let second = 0; second < seconds; second++) {
      client.session.audio(speech(1));
      await rig.advance(1_000, 250);
    }
  };
  return { rig, puppet, client, watch, speak };
}

describe('the figures of a watched session', () => {
  it.each<[string, [string, string, string]]>([
    ['at one price', ['0.6', '0.6', '0.6']],
    ['at falling prices', ['0.6', '0.3', '0.06']],
    ['at rising prices', ['0.06', '0.3', '0.6']],
    ['with a free model between', ['0.6', '0', '0.6']],
  ])('never fall across failovers %s, and end at the charge', async (_, prices) => {
    const { rig, puppet, client, watch, speak } = await watched(prices);
    const { frames } = watch(client);
    await speak(5);
    await puppet.last.say(final('1', 3));
    await speak(3);
    for (let leg = 0; leg < 2; leg++) {
      await puppet.last.say({ type: 'failed', failure: failure('next') });
      await rig.advance(1_000, 250);
      await speak(3);
    }
    client.session.control({ type: 'close' });
    await puppet.last.say(final('1', 11), { type: 'finished' });
    await untilEnded(rig, client);
    const audio = frames.filter((frame) => frame.kind === 'audio');
    expect(client.of('failover')).toHaveLength(2);
    const ended = client.of('session_ended')[0];
    expect(audio.at(-1)).toMatchObject({ held_usd: '0.00', cost_usd: ended?.cost_usd, sent_seconds: 14 });
    const sent = audio.map(({ sent_seconds }) => sent_seconds);
    expect(sent).toEqual(sent.toSorted((one, other) => one - other));
    const costs = audio.slice(0, -1).map(({ cost_usd }) => Number(cost_usd));
    expect(costs).toEqual(costs.toSorted((one, other) => one - other));
    expect(frames.findLast((frame) => 'actor' in frame && frame.actor === 'money')?.kind).toBe('gone');
    expect(frames.at(-1)?.kind).toBe('ended');
  });

  it('update at the end when the watcher has left', async () => {
    const { rig, puppet, client, watch, speak } = await watched(['0.6', '0.6', '0.6']);
    const { detach } = watch(client);
    await speak(3);
    detach();
    await rig.advance(1_000, 250);
    await speak(7);
    client.session.control({ type: 'close' });
    await puppet.last.say(final('1', 10), { type: 'finished' });
    await untilEnded(rig, client);
    expect(client.session.log.after(0).slice(-2)).toMatchObject([
      { kind: 'audio', held_usd: '0.00', cost_usd: '0.10', received_seconds: 10 },
      { kind: 'ended' },
    ]);
  });

  it('stay unrecorded for a session that was never watched', async () => {
    const { rig, puppet, client, speak } = await watched(['0.6', '0.6', '0.6']);
    await speak(2);
    client.session.control({ type: 'close' });
    await puppet.last.say(final('1', 2), { type: 'finished' });
    await untilEnded(rig, client);
    expect(client.session.log.after(0).filter(({ kind }) => kind === 'audio')).toEqual([]);
  });
});
