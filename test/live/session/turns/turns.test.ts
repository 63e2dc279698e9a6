// Turns from a provider's messages to a client's transcripts, through the real charts: one final for each, on the session's
// own timeline, whatever a provider repeats, delays, leaves out or gets wrong.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Heard } from '../../../../machines/events.ts';
import { drawn } from '../../../fakes/drawn.ts';
import { expectInOrder, speech } from '../support.ts';
import { ended, finalsOf, formatted, partial, piece, say, stage } from './puppet-stage.ts';

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
      'times other than numbers become the end of the last final',
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

  it('gives a shown turn without words one empty final, and continues', async () => {
    const { puppet, client } = await stage();
    await puppet.last.say(partial('1', say('uh', 1)), ended('1', say('', 1, 2)), ended('2', say('b', 3)));
    expect(finalsOf(client)).toEqual([
      [0, '', 2, 2],
      [1, 'b', 3, 3.5],
    ]);
    expectInOrder(client);
  });

  it.each<[string, Heard[]]>([
    ['under its own name', [ended('1', say('hello you', 1, 2))]],
    ['under another name', [ended('9', say('hello you', 1, 2))]],
    ['in pieces', [piece('2', say('hello', 1)), piece('2', say('you', 1.6, 2)), ended('2')]],
    [
      'behind further ends without words',
      [ended('1', say('')), ended('8', say('', 1, 2)), ended('1', say('hello you', 1, 2))],
    ],
    ['formatted in the end', [ended('1', say('hello you', 1, 2), true), formatted('1', say('hello you', 1, 2))]],
  ])('gives one final to a turn that ended without its words and has them %s', async (_, messages) => {
    const { rig, puppet, client } = await stage();
    await puppet.last.say(partial('1', say('hello', 1)), ended('1', say('', 1, 1.5)), ...messages);
    await rig.advance(2_000);
    expect(finalsOf(client)).toEqual([[0, 'hello you', 1, 2]]);
    expectInOrder(client);
  });

  it('replays a turn that ended without its shown words when its leg is lost', async () => {
    const { rig, puppet, client } = await stage({}, speech(10));
    await puppet.last.say(partial('1', say('hello', 1)), ended('1', say('', 1, 1.5)));
    await puppet.last.hangUp(1011);
    await rig.advance(500);
    await puppet.last.say(ended('1', say('hello you', 1, 2)));
    expect(finalsOf(client)).toEqual([[0, 'hello you', 1, 2]]);
    expectInOrder(client);
  });

  it('gives a shown turn its final without words a second after it ended so', async () => {
    const { rig, puppet, client } = await stage();
    await puppet.last.say(partial('1', say('uh', 1)), ended('1', say('', 1, 2)));
    await rig.advance(999, 999);
    expect(client.finals).toEqual([]);
    await rig.advance(1, 1);
    expect(finalsOf(client)).toEqual([[0, '', 2, 2]]);
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
  it('becomes the final when it comes in time, once', async () => {
    const { rig, puppet, client } = await stage();
    await puppet.last.say(partial('1', say('a b')), ended('1', say('a b', 0, 1), true));
    await rig.advance(699, 699);
    expect(client.finals).toEqual([]);
    await puppet.last.say(formatted('1', say('A b.', 0, 1)), formatted('1', say('A b!', 0, 1)));
    await rig.advance(2_000);
    expect(finalsOf(client)).toEqual([[0, 'A b.', 0, 1]]);
    expect(rig.drops).toEqual({ late_formatted: 1 });
  });

  it('arrives within 700 ms, or is dropped', async () => {
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
  ])('gives way to the unformatted words when %s', async (_, messages, texts) => {
    const { rig, puppet, client } = await stage();
    await puppet.last.say(ended('1', say('a b', 0, 1), true));
    if (messages[0]?.type === 'finished') client.session.control({ type: 'close' });
    await puppet.last.say(...messages);
    expect(client.finals.map(({ text }) => text)).toEqual(texts);
    await rig.advance(2_000);
    expect(client.finals.map(({ text }) => text)).toEqual(texts);
    expectInOrder(client);
  });

  it('gives way to the unformatted words when the session is ended at once', async () => {
    const { puppet, client } = await stage();
    await puppet.last.say(ended('1', say('a b', 0, 1), true));
    client.session.abort('key_revoked', 'The API key of this session was revoked.');
    await client.ended();
    expect(client.events.map(({ type }) => type).slice(-4)).toEqual([
      'transcript',
      'discontinuity',
      'error',
      'session_ended',
    ]);
    expect(finalsOf(client)).toEqual([[0, 'a b', 0, 1]]);
    expectInOrder(client);
  });

  it('survives a turn without words that ends meanwhile', async () => {
    const { rig, puppet, client } = await stage();
    await puppet.last.say(partial('1', say('a b')), ended('1', say('a b', 0, 1), true), ended('2', say('', 1, 2)));
    await rig.advance(700, 700);
    expect(finalsOf(client)).toEqual([[0, 'a b', 0, 1]]);
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
