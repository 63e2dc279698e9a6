// The reducer of turn texts: what is joined, what is dropped, and that no order of messages makes a turn end twice.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Utterance } from '../../../machines/events.ts';
import { joinUtterances, type TurnMessage, type TurnStep, TurnText } from '../../../src/vendors/kit/turn-text.ts';

const say = (text: string, start = 0, end = start + 1): Utterance => ({ text, start, end });
const partial = (turnId: string, text: string): TurnMessage => ({ type: 'partial', turnId, utterance: say(text) });
const piece = (turnId: string, text: string): TurnMessage => ({ type: 'piece', turnId, utterance: say(text) });
const ended = (turnId: string, text?: string, formattedFollows = false, start = 0): TurnMessage => ({
  type: 'turn.ended',
  turnId,
  formattedFollows,
  ...(text === undefined ? {} : { utterance: say(text, start) }),
});
const formatted = (turnId: string, text: string): TurnMessage => ({
  type: 'turn.formatted',
  turnId,
  utterance: say(text),
});

/** A step in one line: its type and text. */
function shown(step: TurnStep): string {
  if (step.type === 'dropped') return `dropped ${step.why}`;
  if (step.type === 'empty') return `empty${step.heard ? ' heard' : ''}`;
  const begins = 'begins' in step && step.begins ? ' begins' : '';
  return `${step.type}${begins}: ${step.utterance.text}`;
}

const play = (...messages: TurnMessage[]): string[] => {
  const text = new TurnText();
  return messages.map((message) => shown(text.hear(message)));
};

describe('the text of turns', () => {
  it.each<[string, TurnMessage[], string[]]>([
    ['a final without interims begins and ends', [ended('1', 'Yes.')], ['ended begins: Yes.']],
    [
      'two real finals of the same text both live',
      [ended('1', 'Yes.'), ended('2', 'Yes.', false, 1)],
      ['ended begins: Yes.', 'ended begins: Yes.'],
    ],
    [
      'a final said again under another name is dropped',
      [ended('1', 'Yes.'), ended('2', 'yes', false, 0.003), partial('3', 'yes'), piece('3', 'Yes!')],
      ['ended begins: Yes.', 'dropped duplicate_final', 'dropped late_partial', 'dropped late_partial'],
    ],
    [
      'a final behind an end without words is the end of the turn',
      [partial('1', 'a'), ended('1', ''), partial('1', 'a'), ended('1', ''), ended('1', 'a b'), ended('1', 'a b')],
      [
        'interim begins: a',
        'empty heard',
        'dropped late_partial',
        'dropped duplicate_final',
        'ended begins: a b',
        'dropped duplicate_final',
      ],
    ],
    [
      'a final said twice is dropped',
      [ended('1', 'Yes.'), ended('1', 'Yes.')],
      ['ended begins: Yes.', 'dropped duplicate_final'],
    ],
    [
      'an interim after its final is dropped',
      [ended('1', 'a'), partial('1', 'a b')],
      ['ended begins: a', 'dropped late_partial'],
    ],
    [
      'a piece after its final is dropped',
      [ended('1', 'a'), piece('1', 'b')],
      ['ended begins: a', 'dropped late_partial'],
    ],
    [
      'pieces are joined when the turn ends',
      [piece('1', 'a'), piece('1', 'b'), ended('1')],
      ['interim begins: a', 'interim: a b', 'ended: a b'],
    ],
    [
      'an interim comes after the settled pieces',
      [piece('1', 'a'), partial('1', 'b'), partial('1', 'c'), ended('1')],
      ['interim begins: a', 'interim: a b', 'interim: a c', 'ended: a'],
    ],
    [
      'a separate utterance is the whole turn',
      [piece('1', 'a'), ended('1', 'A, b.')],
      ['interim begins: a', 'ended: A, b.'],
    ],
    ['a turn without words is empty', [ended('1')], ['empty']],
    [
      'a turn whose words came to nothing is empty',
      [partial('1', 'uh'), ended('1', '')],
      ['interim begins: uh', 'empty heard'],
    ],
    [
      'the formatted final follows',
      [ended('1', 'a b', true), formatted('1', 'A b.')],
      ['ended begins: a b', 'formatted: A b.'],
    ],
    [
      'a second formatted final is too late',
      [ended('1', 'a', true), formatted('1', 'A.'), formatted('1', 'A!')],
      ['ended begins: a', 'formatted: A.', 'dropped late_formatted'],
    ],
    [
      'a formatted final is too late when the next turn has begun',
      [ended('1', 'a', true), partial('2', 'b'), formatted('1', 'A.')],
      ['ended begins: a', 'interim begins: b', 'dropped late_formatted'],
    ],
    [
      'a formatted final is too late when the next turn has ended',
      [ended('1', 'a', true), ended('2', 'b', true), formatted('1', 'A.')],
      ['ended begins: a', 'ended begins: b', 'dropped late_formatted'],
    ],
    [
      'a formatted final of a turn that was never reported is dropped',
      [formatted('9', 'A.')],
      ['dropped late_formatted'],
    ],
    [
      'a formatted final of a turn without words is dropped',
      [ended('1', 'a'), ended('2', '', true), formatted('2', 'B.')],
      ['ended begins: a', 'empty', 'dropped late_formatted'],
    ],
    [
      'a formatted final that was not announced is dropped',
      [ended('1', 'a'), formatted('1', 'A.')],
      ['ended begins: a', 'dropped late_formatted'],
    ],
    [
      'a turn that changes its name is the same turn to the client',
      [partial('1', 'a'), partial('2', 'a b'), ended('2', 'a b')],
      ['interim begins: a', 'interim: a b', 'ended: a b'],
    ],
    [
      'settled words are kept when the turn changes its name',
      [piece('1', 'a'), partial('2', 'b'), piece('2', 'c'), ended('2')],
      ['interim begins: a', 'interim: a b', 'interim: a c', 'ended: a c'],
    ],
    [
      'settled words stand before an utterance of another name',
      [piece('1', 'a'), ended('2', 'B.')],
      ['interim begins: a', 'ended: a B.'],
    ],
    [
      'a formatted final is not too late for words that were none',
      [ended('1', 'a', true), partial('2', ''), ended('3', ''), formatted('1', 'A.')],
      ['ended begins: a', 'interim: ', 'empty', 'formatted: A.'],
    ],
    [
      'interims without words begin nothing',
      [partial('1', ''), piece('1', ''), ended('1')],
      ['interim: ', 'interim: ', 'empty'],
    ],
  ])('%s', (_, messages, steps) => {
    expect(play(...messages)).toEqual(steps);
  });

  it('remembers enough ended turns to know a final that is repeated 32 turns later', () => {
    const text = new TurnText();
    for (let turn = 0; turn < 1_000; turn++) {
      expect(text.hear(ended(String(turn), 'x', false, turn)).type).toBe('ended');
      expect(text.hear(ended(String(Math.max(0, turn - 31)), 'y', false, turn)).type).toBe('dropped');
    }
  });

  it('joins times, words, speakers and weighs confidence by length', () => {
    const word = { word: 'a', start: 1, end: 1.5 };
    expect(
      joinUtterances([
        { text: 'aaa', start: 1, end: 2, confidence: 1, speaker: 0, language: 'en', words: [word] },
        { text: '', start: 2, end: 9 },
        { text: 'b', start: 3, end: 4, confidence: 0, speaker: 0 },
      ]),
    ).toEqual({ text: 'aaa b', start: 1, end: 9, confidence: 0.75, language: 'en', words: [word] });
    const two = [say('a'), say('b')].map((part, speaker) => ({ ...part, speaker }));
    expect(joinUtterances(two)).not.toHaveProperty('speaker');
    expect(joinUtterances(two.map((part) => ({ ...part, speaker: 3 }))).speaker).toBe(3);
    expect(joinUtterances([])).toEqual({ text: '', start: 0, end: 0 });
  });

  it('ends each turn at most once, says of each final once that it begins, and never shrinks settled words', () => {
    const id = fc.integer({ min: 0, max: 4 }).map(String);
    const text = fc.constantFrom('', 'a', 'b', 'c');
    const message: fc.Arbitrary<TurnMessage> = fc.oneof(
      fc.tuple(id, text).map(([turnId, words]) => partial(turnId, words)),
      fc.tuple(id, text).map(([turnId, words]) => piece(turnId, words)),
      fc
        .tuple(id, fc.option(text, { nil: undefined }), fc.boolean())
        .map(([turnId, words, formattedFollows]) => ended(turnId, words, formattedFollows)),
      fc.tuple(id, text).map(([turnId, words]) => formatted(turnId, words)),
    );
    fc.assert(
      fc.property(fc.array(message, { maxLength: 30 }), (messages) => {
        const reducer = new TurnText();
        const finals = new Map<string, number>();
        let open = false;
        let settled: string[] = [];
        for (const each of messages) {
          const step = reducer.hear(each);
          if (step.type === 'interim') {
            const words = step.utterance.text !== '';
            expect(step.begins).toBe(!open && words);
            open ||= words;
            if (each.type === 'piece' && each.utterance.text !== '') settled.push(each.utterance.text);
            expect(step.utterance.text.startsWith(settled.join(' '))).toBe(true);
          } else if (step.type === 'ended' || step.type === 'empty') {
            // An end without words may have another behind it.
            if (step.type === 'ended') finals.set(each.turnId, (finals.get(each.turnId) ?? 0) + 1);
            if (step.type === 'ended') expect(step.begins).toBe(!open);
            else expect(step.heard).toBe(open);
            open = false;
            settled = [];
          }
          expect(reducer.open).toBe(open);
        }
        expect([...finals.values()].every((count) => count === 1)).toBe(true);
      }),
      { numRuns: 2_000 },
    );
  });
});
