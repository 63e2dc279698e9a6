// A turn with speech in it of which a model makes no words: heard once more by the next model where that is asked for, and never
// a third time.
import { describe, expect, it } from 'vitest';
import type { Heard, LegFailure } from '../../../../machines/events.ts';
import { settle } from '../../../fakes/session-rig.ts';
import { failure, puppetRig } from '../puppet.ts';
import { silence, speech } from '../support.ts';

const ended = (turnId: string, text: string, start: number, end: number): Heard => ({
  type: 'turn.ended',
  turnId,
  formattedFollows: false,
  utterance: { text, start, end },
});
const FINISHED: Heard = { type: 'finished' };
const failed = (kind: LegFailure['kind']): Heard => ({ type: 'failed', failure: failure(kind) });
const CHAIN = [{ model: 'puppet/b' }];

/** A session that was sent this, whose first model ends a turn without words after two seconds. */
async function emptied(audio: Uint8Array, fallbacks = CHAIN, hearEmptyAgain: 'on' | 'off' = 'on', lastResort?: string) {
  const { rig, puppet } = puppetRig({ rig: { settings: { hearEmptyAgain } } });
  const client = await rig.open({ model: 'puppet/a', fallbacks }, 'org_1', { lastResort });
  client.session.audio(audio);
  await puppet.last.say(ended('1', '', 0, 2));
  return { rig, puppet, client };
}

describe('a turn without words', () => {
  it('goes to the next model from its beginning, and is billed there', async () => {
    const { puppet, client } = await emptied(speech(2));
    expect(client.of('failover')).toMatchObject([{ from: 'puppet/a', to: 'puppet/b', reason: 'empty_result' }]);
    expect(puppet.last.samples).toBe(32_000);
    client.session.control({ type: 'close' });
    await puppet.last.say(ended('1', 'after all', 0, 2), FINISHED);
    expect(client.finals).toMatchObject([{ text: 'after all', turn: 0, start: 0, end: 2, model: 'puppet/b' }]);
    expect(client.of('session_ended')[0]?.usage).toMatchObject([{ model: 'puppet/b', seconds: 2 }]);
    expect([client.closeCode, client.of('warning')]).toEqual([1000, []]);
  });

  it('stays empty when the next model finds no words either: the session continues there', async () => {
    const { puppet, client } = await emptied(speech(2), [...CHAIN, { model: 'puppet/c' }]);
    await puppet.last.say(ended('1', '', 0, 2));
    client.session.audio(speech(1));
    client.session.control({ type: 'close' });
    await puppet.last.say(ended('2', 'more', 2, 3), FINISHED);
    expect(client.of('failover')).toHaveLength(1);
    expect(client.finals).toMatchObject([{ text: 'more', start: 2, end: 3, model: 'puppet/b' }]);
    expect(client.closeCode).toBe(1000);
  });

  it('is not transcribed again by the last resort, which is for failures', async () => {
    const { puppet, client } = await emptied(speech(2), [], 'on', 'puppet/c');
    expect([client.of('failover'), client.of('warning').map(({ code }) => code)]).toEqual([[], ['empty_result']]);
    client.session.audio(speech(1));
    await puppet.last.say(failed('next'));
    expect(client.of('failover')).toMatchObject([{ from: 'puppet/a', to: 'puppet/c' }]);
    client.session.control({ type: 'close' });
    await puppet.last.say(ended('1', 'more', 2, 3), FINISHED);
    expect(client.finals).toMatchObject([{ text: 'more', model: 'puppet/c' }]);
    expect(client.closeCode).toBe(1000);
  });

  it('goes back to the model that found no words when the next one fails, not to the last resort', async () => {
    const { rig, puppet, client } = await emptied(speech(2), CHAIN, 'on', 'puppet/c');
    await puppet.last.say(failed('next'));
    rig.clock.increment(1_000);
    await settle();
    expect(client.of('failover').map(({ from, to }) => [from, to])).toEqual([
      ['puppet/a', 'puppet/b'],
      ['puppet/b', 'puppet/a'],
    ]);
    await puppet.last.say(ended('2', '', 0, 2));
    client.session.audio(speech(1));
    client.session.control({ type: 'close' });
    await puppet.last.say(ended('3', 'more', 2, 3), FINISHED);
    expect(client.finals).toMatchObject([{ text: 'more', model: 'puppet/a' }]);
    expect(client.closeCode).toBe(1000);
  });

  it('continues with the last resort when all others fail', async () => {
    const { rig, puppet, client } = await emptied(speech(2), CHAIN, 'on', 'puppet/c');
    await puppet.last.say(failed('account'));
    rig.clock.increment(1_000);
    await settle();
    await puppet.last.say(failed('account'));
    rig.clock.increment(1_000);
    await settle();
    expect(client.of('failover').at(-1)).toMatchObject({ to: 'puppet/c' });
  });

  it.each<[string, Uint8Array, { model: string }[], 'on' | 'off', string[]]>([
    ['in silence', silence(2), CHAIN, 'on', []],
    ['with no other model', speech(2), [], 'on', ['empty_result']],
    ['where it is not requested', speech(2), CHAIN, 'off', []],
  ])('%s is what it is', async (_, audio, fallbacks, hearEmptyAgain, warnings) => {
    const { puppet, client } = await emptied(audio, fallbacks, hearEmptyAgain);
    client.session.control({ type: 'close' });
    await puppet.last.say(FINISHED);
    expect([client.of('failover'), client.finals, client.closeCode]).toEqual([[], [], 1000]);
    expect(client.of('warning').map(({ code }) => code)).toEqual(warnings);
  });
});
