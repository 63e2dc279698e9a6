// One speaker number is never two people, however often the leg changes; and who listens is told when numbers begin anew.
import { describe, expect, it } from 'vitest';
import type { Heard } from '../../../../machines/events.ts';
import type { RigClient } from '../../../fakes/session-rig.ts';
import { puppetRig } from '../puppet.ts';
import { expectInOrder, speech } from '../support.ts';

const heard = (type: 'partial' | 'turn.ended', start: number, ...speakers: (number | undefined)[]): Heard => {
  const words = speakers.map((speaker, at) => ({
    word: `w${at}`,
    start: start + at / 10,
    end: start + (at + 1) / 10,
    ...(speaker === undefined ? {} : { speaker }),
  }));
  const [speaker] = speakers;
  const utterance = {
    ...{ text: words.map(({ word }) => word).join(' '), start, end: start + speakers.length / 10, words },
    ...(speaker === undefined ? {} : { speaker }),
  };
  return type === 'partial'
    ? { type, turnId: `${start}`, utterance }
    : { type, turnId: `${start}`, utterance, formattedFollows: false };
};

const rigOf = (settings = {}) => puppetRig({ timing: { stallMs: Number.POSITIVE_INFINITY }, rig: { settings } });
const numbersOf = (client: RigClient) =>
  client.of('transcript').map(({ speaker, words }) => [speaker, ...(words ?? []).map((word) => word.speaker)]);
const restartsOf = (client: RigClient) =>
  client.of('speakers_restarted').map(({ start, first_speaker }) => [start, first_speaker]);

describe('speaker numbers', () => {
  it('continue after all earlier numbers on the next leg, announced before the first', async () => {
    const { rig, puppet } = rigOf();
    const client = await rig.open({ model: 'puppet/a', fallbacks: [{ model: 'puppet/b' }], diarization: true });
    client.session.audio(speech(10));
    await rig.advance(100, 100);
    await puppet.last.say(heard('turn.ended', 0, 0, 1), heard('partial', 1, 2));
    await puppet.last.hangUp(1011);
    await rig.advance(500, 100);
    // Its clock begins at the end of the last final, at 0.2 s.
    await puppet.last.say(heard('turn.ended', 1, 0, 0, 1), heard('turn.ended', 2, 1));
    expect(numbersOf(client)).toEqual([
      [0, 0, 1],
      [2, 2],
      [3, 3, 3, 4],
      [4, 4],
    ]);
    expect(restartsOf(client)).toEqual([[1.2, 3]]);
    const types = client.events.map(({ type }) => type);
    expect(types.indexOf('speakers_restarted')).toBe(types.lastIndexOf('failover') + 1);
    expectInOrder(client);
  });

  it('continue also across a planned switch and a pause', async () => {
    const { rig, puppet } = rigOf({ suspendMs: 5_000, idleMs: 100_000 });
    const client = await rig.open({ model: 'puppet/a', diarization: true });
    for (let pause = 0; pause < 3; pause++) {
      client.session.audio(speech(1));
      await rig.advance(6_000, 500);
      await puppet.last.say(heard('turn.ended', 0, 0), { type: 'finished' });
    }
    expect([puppet.connections.length, numbersOf(client)]).toEqual([
      3,
      [
        [0, 0],
        [1, 1],
        [2, 2],
      ],
    ]);
    expect(restartsOf(client)).toEqual([
      [1, 1],
      [2, 2],
    ]);
  });

  it('begin at 0 where none were given before, without an announcement where there are none', async () => {
    const { rig, puppet } = rigOf();
    const client = await rig.open({ model: 'puppet/a', fallbacks: [{ model: 'puppet/b' }, { model: 'puppet/c' }] });
    client.session.audio(speech(10));
    await rig.advance(100, 100);
    await puppet.last.say(heard('turn.ended', 0, undefined));
    await puppet.last.hangUp(1011);
    await rig.advance(500, 100);
    await puppet.last.say(heard('turn.ended', 1, 0, 1));
    await puppet.last.hangUp(1011);
    await rig.advance(500, 100);
    await puppet.last.say(heard('turn.ended', 2, undefined));
    expect(numbersOf(client)).toEqual([
      [undefined, undefined],
      [0, 0, 1],
      [undefined, undefined],
    ]);
    expect(restartsOf(client)).toEqual([]);
    expectInOrder(client);
  });
});
