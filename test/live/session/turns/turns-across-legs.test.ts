// Turns of a session whose leg is lost: what the next leg hears again, what is kept of the one before, and that each turn has one final.
import { describe, expect, it } from 'vitest';
import type { Heard, Utterance } from '../../../../machines/events.ts';
import type { RigClient } from '../../../fakes/session-rig.ts';
import { expectInOrder, silence, speech } from '../support.ts';
import { ended, finalsOf, partial, piece, type Stage, say, stage } from './puppet-stage.ts';

describe('turns across legs', () => {
  it('follow the origin of their leg, and are replayed from the end of the last final', async () => {
    const { rig, puppet, client } = await stage();
    await puppet.last.say(ended('1', say('a', 0, 4)), partial('2', say('b c', 4, 6)));
    await puppet.last.hangUp(1011);
    await rig.advance(500);
    expect(client.of('failover')).toMatchObject([{ from: 'puppet/a', to: 'puppet/b', replayed_seconds: 6 }]);
    await puppet.last.say(ended('1', say('b c', 0, 2)), ended('2', say('d', 2, 6)));
    expect(finalsOf(client)).toEqual([
      [0, 'a', 0, 4],
      [1, 'b c', 4, 6],
      [2, 'd', 6, 10],
    ]);
    expect(client.finals.map(({ model }) => model)).toEqual(['puppet/a', 'puppet/b', 'puppet/b']);
    expectInOrder(client);
  });

  const word = (text: string, start: number) => ({ word: text, start, end: start + 1 });
  /** Twelve words of a second each, from there on. */
  const long = (from = 0): Utterance => {
    const words = Array.from({ length: 12 }, (_, index) => word(`w${from + index}`, from + index));
    return { text: words.map((each) => each.word).join(' '), start: from, end: from + 12, words };
  };
  const textsOf = (client: RigClient) =>
    client.of('transcript').map(({ turn, is_final, text }) => [turn, is_final, text]);

  it.each<[string, Heard[], string]>([
    ['the settled pieces', [piece('1', long()), partial('1', say('w12 w13', 12, 14))], long().text],
    [
      'the settled words of a longer text',
      [{ type: 'partial', turnId: '1', utterance: long(), settledWords: 11 }],
      long().text.replace(' w11', ''),
    ],
    [
      'settled pieces and words, under two names of the turn',
      [piece('1', long()), { type: 'partial', turnId: '2', utterance: { ...long(12) }, settledWords: 2 }],
      `${long().text} w12 w13`,
    ],
  ])('keep %s of a long turn as its final, and hear the rest again as the next turn', async (_, messages, text) => {
    const { rig, puppet, client } = await stage({}, speech(30));
    await puppet.last.say(...messages);
    await puppet.last.hangUp(1011);
    await rig.advance(500);
    const words = text.split(' ').length;
    expect(finalsOf(client)).toEqual([[0, text, 0, words]]);
    expect(client.of('failover')).toMatchObject([{ replayed_seconds: 30 - words }]);
    await puppet.last.say(partial('1', say('next', 0, 2)), ended('1', say('next', 0, 30 - words)));
    expect(textsOf(client).slice(-2)).toEqual([
      [1, false, 'next'],
      [1, true, 'next'],
    ]);
    expect(client.finals.map(({ model }) => model)).toEqual(['puppet/a', 'puppet/b']);
    expectInOrder(client);
  });

  it.each<[string, Heard[]]>([
    ['settled words of a short turn', [piece('1', say('a b', 0, 4)), partial('1', say('c', 4, 5))]],
    ['a long turn of which nothing is settled', [partial('1', long())]],
    [
      'words that do not make up their text',
      [{ type: 'partial', turnId: '1', utterance: { ...long(), text: 'w0w1w2' }, settledWords: 11 }],
    ],
  ])('hear %s again as one turn', async (_, messages) => {
    const { rig, puppet, client } = await stage({}, speech(30));
    await puppet.last.say(...messages);
    await puppet.last.hangUp(1011);
    await rig.advance(500);
    expect([client.finals, client.of('failover')]).toMatchObject([[], [{ replayed_seconds: 30 }]]);
    await puppet.last.say(ended('1', say('all', 0, 30)));
    expect(finalsOf(client)).toEqual([[0, 'all', 0, 30]]);
    expectInOrder(client);
  });

  it('give one final to a turn that was shown by the failed leg and is nothing to the next', async () => {
    const { rig, puppet, client } = await stage({}, speech(10));
    await puppet.last.say(partial('1', say('uh', 0, 1)));
    await puppet.last.hangUp(1011);
    await rig.advance(500);
    await puppet.last.say(ended('1', say('', 0, 1)), ended('2', say('b', 2)));
    expect(finalsOf(client)).toEqual([
      [0, '', 1, 1],
      [1, 'b', 2, 2.5],
    ]);
    expectInOrder(client);
  });
});

describe('a turn that a failed leg has shown', () => {
  /** The next leg hears from half a second before the speech on, which lasts from 2 to 4 s; shown was the word "hello". */
  async function failed(shownStart: number, shownEnd: number): Promise<Stage> {
    const all = await stage({}, new Uint8Array([...silence(2), ...speech(2), ...silence(4)]));
    await all.puppet.last.say(partial('1', say('hello', shownStart, shownEnd)));
    await all.puppet.last.hangUp(1011);
    await all.rig.advance(500);
    return all;
  }

  it.each<[string, Heard[]]>([
    ['windows of the silence before it', [ended('1', say('', 0, 0.2)), ended('2', say('', 0.2, 0.45))]],
    ['ends of turns that say nothing of where they were', [ended('1', say('', 0, 0)), ended('2')]],
    ['noise before it', [partial('1', say('uh', 0.1, 0.3)), ended('1', say('', 0.1, 0.4))]],
    ['a window that ends within it', [ended('1', say('', 0, 0.9))]],
  ])('stays open after %s', async (_, messages) => {
    const { puppet, client } = await failed(2.2, 3);
    await puppet.last.say(...messages, ended('9', say('hello there', 0.9, 2.4)));
    expect(finalsOf(client)).toEqual([[0, 'hello there', 2.4, 3.9]]);
    expectInOrder(client);
  });

  it('stays open after a window without speech at any position of the failed leg', async () => {
    const { puppet, client } = await failed(0.9, 1.3);
    await puppet.last.say(ended('1', say('', 0, 0.45)), ended('2', say('hello', 0.6, 2)));
    expect(finalsOf(client)).toEqual([[0, 'hello', 2.1, 3.5]]);
  });

  it('ends without words after a window that covered all of it', async () => {
    const { puppet, client } = await failed(2.2, 3);
    await puppet.last.say(ended('1', say('', 0, 2.6)), ended('2', say('more', 3, 4)));
    expect(finalsOf(client)).toEqual([
      [0, '', 4.1, 4.1],
      [1, 'more', 4.5, 5.5],
    ]);
  });
});
