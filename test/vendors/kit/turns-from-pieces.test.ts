// Turns made of settled pieces, of whole words and of parts of words.
import { describe, expect, it } from 'vitest';
import { TurnsFromPieces } from '../../../src/vendors/kit/turns/turns-from-pieces.ts';
import { utteranceOf, wordOf } from '../../../src/vendors/kit/words.ts';

const said = (text: string, start = 0, end = 1) => utteranceOf(text, start, end);

describe('turns of whole words', () => {
  it('consist of their pieces, joined by the session', () => {
    const turns = new TurnsFromPieces();
    expect(turns.partial(said('on'))).toMatchObject({ type: 'partial', turnId: '0' });
    expect([turns.open, turns.settled, turns.end()]).toEqual([true, false, []]);
    expect(turns.piece(said('one'))).toMatchObject({ type: 'piece', turnId: '0', utterance: { text: 'one' } });
    expect([turns.from, turns.settled]).toEqual([0, true]);
    const [end] = turns.end();
    expect(end).toEqual({ type: 'turn.ended', turnId: '0', formattedFollows: false });
    expect([turns.turnId, turns.open]).toEqual(['1', false]);
  });

  it('leave silence with no words before it to itself, and words that are not settled to the next', () => {
    const turns = new TurnsFromPieces();
    expect(turns.piece(said('', 0, 2))).toMatchObject({ type: 'turn.ended', utterance: { text: '', end: 2 } });
    turns.piece(said('one'));
    expect(turns.piece(said(''))).toMatchObject({ type: 'piece', turnId: '1' });
    turns.partial(said('two'));
    turns.end();
    expect([turns.from, turns.open]).toEqual([undefined, true]);
  });

  it('know a piece that is said again, of the last ones', () => {
    const turns = new TurnsFromPieces();
    const heard = Array.from({ length: 40 }, (_, index) => turns.isRepeated(String(index)));
    expect(heard).not.toContain(true);
    expect([turns.isRepeated('39'), turns.isRepeated('0')]).toEqual([true, false]);
  });
});

describe('turns of parts of words', () => {
  const piece = (...parts: [string, number, number][]) =>
    utteranceOf(parts.map(([part]) => part).join(''), parts[0]?.[1] ?? 0, parts.at(-1)?.[2] ?? 0, {
      words: parts.map(([part, start, end]) => wordOf(part, start, end)),
    });

  it('join as they arrive, and words begin at spaces', () => {
    const turns = new TurnsFromPieces('parts');
    turns.piece(piece(['Two', 0, 1], [' te', 1, 2]));
    expect(turns.partial(piece(['as', 2, 3], [' please', 3, 4]))).toMatchObject({
      utterance: { text: 'Two teas please', start: 0, end: 4 },
    });
    turns.piece(piece(['as', 2, 3], ['. ', 3, 4]));
    expect(turns.end()).toEqual([
      {
        type: 'turn.ended',
        turnId: '0',
        formattedFollows: false,
        utterance: utteranceOf('Two teas.', 0, 4, { words: [wordOf('Two', 0, 1), wordOf('teas.', 1, 4)] }),
      },
    ]);
    expect(turns.piece(said('next'))).toMatchObject({ turnId: '1', utterance: { text: 'next' } });
  });
});
