// Turns from a provider's messages to a client's transcripts, through the real charts: one final for each, on the session's
// own timeline, whatever a provider repeats, delays, leaves out or gets wrong.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Heard, Utterance } from '../../../machines/events.ts';
import { drawn } from '../../fakes/drawn.ts';
import type { RigClient, SessionRig } from '../../fakes/session-rig.ts';
import { type Puppet, puppetRig } from '../puppet.ts';
import { expectInOrder, hum, silence, speech } from '../support.ts';

const say = (text: string, start = 0, end = start + 0.5): Utterance => ({ text, start, end });
const partial = (turnId: string, utterance: Utterance): Heard => ({ type: 'partial', turnId, utterance });
const piece = (turnId: string, utterance: Utterance): Heard => ({ type: 'piece', turnId, utterance });
const formatted = (turnId: string, utterance: Utterance): Heard => ({ type: 'turn.formatted', turnId, utterance });
const ended = (turnId: string, utterance?: Utterance, formattedFollows = false): Heard => ({
  type: 'turn.ended',
  turnId,
  formattedFollows,
  ...(utterance === undefined ? {} : { utterance }),
});

interface Stage {
  rig: SessionRig;
  puppet: Puppet;
  client: RigClient;
}

/** A session that has received ten seconds of audio, or this. */
async function stage(
  request: { interimResults?: boolean; turnEvents?: boolean } = {},
  audio = hum(10),
): Promise<Stage> {
  const { rig, puppet } = puppetRig();
  const client = await rig.open({ model: 'puppet/a', fallbacks: [{ model: 'puppet/b' }], ...request });
  client.session.audio(audio);
  await rig.advance(2, 1);
  return { rig, puppet, client };
}

const finalsOf = (client: RigClient) => client.finals.map(({ turn, text, start, end }) => [turn, text, start, end]);

describe('turns', () => {
  it.each<[string, Heard[], (readonly [string, number, number])[]]>([
    [
      'two real "Yes." both survive',
      [ended('1', say('Yes.', 0)), ended('2', say('Yes.', 1))],
      [
        ['Yes.', 0, 0.5],
        ['Yes.', 1, 1.5],
      ],
    ],
    [
      'a final said twice is given once',
      [ended('1', say('a')), ended('1', say('a')), ended('2', say('b', 1))],
      [
        ['a', 0, 0.5],
        ['b', 1, 1.5],
      ],
    ],
    [
      'a final that reaches back begins where the last one ended',
      [ended('1', say('a', 0, 2)), ended('2', say('b', 1, 3))],
      [
        ['a', 0, 2],
        ['b', 2, 3],
      ],
    ],
    [
      'a final that lies before the last one has no length',
      [ended('1', say('a', 0, 2)), ended('2', say('b', 0, 1))],
      [
        ['a', 0, 2],
        ['b', 2, 2],
      ],
    ],
    [
      'times beyond the audio received are cut',
      [ended('1', say('a', 3, 500)), ended('2', say('b', 1e308, 1e308))],
      [
        ['a', 3, 10],
        ['b', 10, 10],
      ],
    ],
    [
      'negative times are the beginning',
      [ended('1', say('a', -5, -1)), ended('2', say('b', 1, 2))],
      [
        ['a', 0, 0],
        ['b', 1, 2],
      ],
    ],
    ['an end before its start is its start', [ended('1', say('a', 2, 1))], [['a', 2, 2]]],
    [
      'times that are no numbers are where the last final ended',
      [
        ended('1', say('a', 0, 1)),
        ended('2', say('b', Number.NaN, Number.NaN)),
        ended('3', say('c', Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY)),
      ],
      [
        ['a', 0, 1],
        ['b', 1, 1],
        ['c', 1, 1],
      ],
    ],
    [
      'a turn without words that was not shown leaves no trace',
      [ended('1', say('', 0, 1)), ended('2'), ended('3', say('c', 1))],
      [['c', 1, 1.5]],
    ],
    [
      'pieces are joined',
      [piece('1', say('a', 0)), partial('1', say('b', 1)), piece('1', say('b', 1)), ended('1')],
      [['a b', 0, 1.5]],
    ],
    [
      'a turn that changes its name stays one',
      [partial('1', say('a')), partial('2', say('a b')), ended('2', say('a b', 0, 1))],
      [['a b', 0, 1]],
    ],
  ])('%s', async (_, messages, finals) => {
    const { puppet, client } = await stage();
    await puppet.last.say(...messages);
    expect(finalsOf(client)).toEqual(finals.map((final, turn) => [turn, ...final]));
    expectInOrder(client);
  });

  it('gives a shown turn that came to nothing one final without words, and goes on', async () => {
    const { puppet, client } = await stage();
    await puppet.last.say(partial('1', say('uh', 1)), ended('1', say('', 1, 2)), ended('2', say('b', 3)));
    expect(finalsOf(client)).toEqual([
      [0, '', 2, 2],
      [1, 'b', 3, 3.5],
    ]);
    expectInOrder(client);
  });

  it('shows no interims to a client that wants none, and gives the same finals', async () => {
    const { puppet, client } = await stage({ interimResults: false });
    await puppet.last.say(partial('1', say('a')), ended('1', say('')), partial('2', say('b')), ended('2', say('b', 1)));
    expect(client.of('transcript').map(({ is_final, text }) => [is_final, text])).toEqual([[true, 'b']]);
    expect(finalsOf(client)).toEqual([[0, 'b', 1, 1.5]]);
  });

  it('keeps the times of words, speech starts and confidence within the turn and finite', async () => {
    const { puppet, client } = await stage();
    const word = (start: number, end: number) => ({ word: 'x', start, end });
    await puppet.last.say(
      { type: 'speech.started', start: Number.NaN },
      { type: 'speech.started', start: -3 },
      { type: 'speech.started', start: 1e9 },
      ended('1', {
        ...say('x x x x', 1, 2),
        confidence: Number.NaN,
        words: [word(Number.NaN, 1.5), word(0, 9), word(1.5, Number.POSITIVE_INFINITY), word(1.8, 1.2)],
      }),
    );
    expect(client.of('speech_started').map(({ start }) => start)).toEqual([0, 0, 10]);
    expect(client.finals[0]?.words).toEqual([word(1, 1.5), word(1, 2), word(1.5, 1.5), word(1.8, 1.8)]);
    expect(client.finals[0]).not.toHaveProperty('confidence');
    expectInOrder(client);
  });
});

describe('the formatted final of a turn', () => {
  it('is the final when it comes in time, and is given once', async () => {
    const { rig, puppet, client } = await stage();
    await puppet.last.say(partial('1', say('a b')), ended('1', say('a b', 0, 1), true));
    await rig.advance(699, 699);
    expect(client.finals).toEqual([]);
    await puppet.last.say(formatted('1', say('A b.', 0, 1)), formatted('1', say('A b!', 0, 1)));
    await rig.advance(2_000);
    expect(finalsOf(client)).toEqual([[0, 'A b.', 0, 1]]);
    expect(rig.drops).toEqual({ late_formatted: 1 });
  });

  it('is waited for 700 ms, and dropped when it comes later', async () => {
    const { rig, puppet, client } = await stage();
    await puppet.last.say(ended('1', say('a b', 0, 1), true));
    await rig.advance(699, 699);
    expect(client.finals).toEqual([]);
    await rig.advance(1, 1);
    expect(finalsOf(client)).toEqual([[0, 'a b', 0, 1]]);
    await puppet.last.say(formatted('1', say('A b.', 0, 1)));
    expect([client.finals.length, rig.drops]).toEqual([1, { late_formatted: 1 }]);
  });

  it.each<[string, Heard[], string[]]>([
    ['the next turn begins', [partial('2', say('c', 2))], ['a b']],
    ['the next turn is over', [ended('2', say('c', 2))], ['a b', 'c']],
    ['the leg finishes', [{ type: 'finished' }], ['a b']],
    [
      'the leg fails',
      [{ type: 'failed', failure: { kind: 'next', reason: 'upstream_error', code: 'x', message: 'X.' } }],
      ['a b'],
    ],
  ])('is waited for no longer when %s: the unformatted words are given', async (_, messages, texts) => {
    const { rig, puppet, client } = await stage();
    await puppet.last.say(ended('1', say('a b', 0, 1), true));
    if (messages[0]?.type === 'finished') client.session.control({ type: 'close' });
    await puppet.last.say(...messages);
    expect(client.finals.map(({ text }) => text)).toEqual(texts);
    await rig.advance(2_000);
    expect(client.finals.map(({ text }) => text)).toEqual(texts);
    expectInOrder(client);
  });

  it('is not pushed out by a turn without words that ends meanwhile', async () => {
    const { rig, puppet, client } = await stage();
    await puppet.last.say(partial('1', say('a b')), ended('1', say('a b', 0, 1), true), ended('2', say('', 1, 2)));
    await rig.advance(700, 700);
    expect(finalsOf(client)).toEqual([[0, 'a b', 0, 1]]);
  });
});

describe('turns across legs', () => {
  it('are placed by the origin of their leg, and heard again from the end of the last final', async () => {
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
  ])('is not ended by %s', async (_, messages) => {
    const { puppet, client } = await failed(2.2, 3);
    await puppet.last.say(...messages, ended('9', say('hello there', 0.9, 2.4)));
    expect(finalsOf(client)).toEqual([[0, 'hello there', 2.4, 3.9]]);
    expectInOrder(client);
  });

  it('is not ended by a window without speech, wherever the failed leg has told that it was', async () => {
    const { puppet, client } = await failed(0.9, 1.3);
    await puppet.last.say(ended('1', say('', 0, 0.45)), ended('2', say('hello', 0.6, 2)));
    expect(finalsOf(client)).toEqual([[0, 'hello', 2.1, 3.5]]);
  });

  it('is ended without words by a window that has heard all of it and found none', async () => {
    const { puppet, client } = await failed(2.2, 3);
    await puppet.last.say(ended('1', say('', 0, 2.6)), ended('2', say('more', 3, 4)));
    expect(finalsOf(client)).toEqual([
      [0, '', 4.1, 4.1],
      [1, 'more', 4.5, 5.5],
    ]);
  });
});

describe('any order of messages', () => {
  const time = fc.oneof(fc.double({ min: -1, max: 12 }), fc.constantFrom(Number.NaN, 1e308, Number.NEGATIVE_INFINITY));
  const utterance = fc.record({ text: fc.constantFrom('', 'a', 'b c', 'Yes.'), start: time, end: time });
  const id = fc.integer({ min: 0, max: 5 }).map(String);
  const step: fc.Arbitrary<Heard | number | 'hang up'> = fc.oneof(
    {
      weight: 4,
      arbitrary: fc
        .tuple(id, utterance, fc.constantFrom({}, { boundary: 'eager_end' as const }, { boundary: 'resumed' as const }))
        .map(([turnId, each, bound]) => ({ ...partial(turnId, each), ...bound })),
    },
    { weight: 1, arbitrary: time.map((start): Heard => ({ type: 'speech.started', start })) },
    { weight: 2, arbitrary: fc.tuple(id, utterance).map(([turnId, each]) => piece(turnId, each)) },
    {
      weight: 4,
      arbitrary: fc
        .tuple(id, fc.option(utterance, { nil: undefined }), fc.boolean())
        .map(([turnId, each, formattedFollows]) => ended(turnId, each, formattedFollows)),
    },
    { weight: 2, arbitrary: fc.tuple(id, utterance).map(([turnId, each]) => formatted(turnId, each)) },
    { weight: 2, arbitrary: fc.integer({ min: 1, max: 800 }) },
    { weight: 1, arbitrary: fc.constant('hang up' as const) },
  );

  it('gives each turn at most one final, numbers without gap, times that rise, and ends with none owed', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 25 }), fc.boolean(), async (steps, turnEvents) => {
        const { rig, puppet, client } = await stage({ turnEvents });
        for (const each of steps) {
          if (typeof each === 'number') await rig.advance(each, each);
          else if (each === 'hang up') {
            if (!puppet.last.over) await puppet.last.hangUp(1011);
            await rig.advance(2_100, 300);
            if (client.summary !== undefined) break;
          } else await puppet.last.say(each);
        }
        if (client.summary === undefined) {
          client.session.control({ type: 'close' });
          await rig.advance(100);
          // A turn still open has to be ended before the leg may finish.
          await puppet.last.say(...[0, 1, 2, 3, 4, 5].map((turn) => ended(String(turn))), { type: 'finished' });
          await rig.advance(1_000, 500);
          expect(client.closeCode).toBe(1000);
          const shown = new Set(client.of('transcript').map(({ turn }) => turn));
          expect(client.finals.length).toBe(shown.size);
        }
        expectInOrder(client);
        expect(rig.faults).toEqual([]);
      }),
      { numRuns: drawn(500) },
    );
  });
});
