// How well a transcript agrees with what was really said: errors by the word, or by the character in languages that put no spaces between
// words, after both texts were normalised; and how far the rate may be off.
import type { AccuracyUnit } from '../../api/accuracy.ts';

/** Of what is said in one file. */
export const UNITS_MAX = 20_000;
/** A transcript may be longer; what exceeds it is counted as inserted. */
const HEARD_MAX = 2 * UNITS_MAX;

const SPACELESS = /^(?:zh|yue|wuu|nan|ja|th|lo|km|my|bo|dz)$/;
const SPACELESS_LETTERS =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}\p{Script=Tibetan}]/gu;

/** Without a named language, the letters of what is said decide. */
export function unitFor(language: string | null, references: readonly string[]): AccuracyUnit {
  if (language !== null) return SPACELESS.test(language) ? 'characters' : 'words';
  const letters = references.reduce((sum, text) => sum + (text.match(/\p{L}/gu)?.length ?? 0), 0);
  const spaceless = references.reduce((sum, text) => sum + (text.match(SPACELESS_LETTERS)?.length ?? 0), 0);
  return 2 * spaceless > letters ? 'characters' : 'words';
}

/** Case, punctuation and the ways to write the same letter do not count. */
export function unitsOf(text: string, unit: AccuracyUnit): string[] {
  const plain = text
    .normalize('NFKC')
    .toLowerCase()
    .replace(/(?<=\p{L})['’ʼ`](?=\p{L})/gu, '')
    .replace(/[^\p{L}\p{N}\p{M}]+/gu, ' ')
    .trim();
  if (plain === '') return [];
  return unit === 'words' ? plain.split(' ') : [...plain.replaceAll(' ', '')];
}

export interface Errors {
  substitutions: number;
  insertions: number;
  deletions: number;
}

export const totalOf = ({ substitutions, insertions, deletions }: Errors): number =>
  substitutions + insertions + deletions;

/** Costs of the best way so far, and how many of them are substitutions and insertions; the others are deletions. */
interface Row {
  costs: Uint32Array;
  substitutions: Uint32Array;
  insertions: Uint32Array;
}

const rowOf = (length: number): Row => ({
  costs: new Uint32Array(length),
  substitutions: new Uint32Array(length),
  insertions: new Uint32Array(length),
});

/** The fewest edits that make one of the other. Two rows are all that is kept. */
export function errorsBetween(reference: readonly string[], heard: readonly string[]): Errors {
  const numbers = new Map<string, number>();
  const numbered = (units: readonly string[]) =>
    Uint32Array.from(units, (unit) => {
      const number = numbers.get(unit) ?? numbers.size;
      numbers.set(unit, number);
      return number;
    });
  const wanted = numbered(reference);
  const found = numbered(heard.slice(0, HEARD_MAX));
  let before = rowOf(found.length + 1);
  let row = rowOf(found.length + 1);
  for (let column = 0; column <= found.length; column++) before.costs[column] = before.insertions[column] = column;
  for (let index = 0; index < wanted.length; index++) {
    fill(row, before, wanted[index] as number, found);
    [before, row] = [row, before];
  }
  const at = found.length;
  const [cost = 0, substitutions = 0, insertions = 0] = [
    before.costs[at],
    before.substitutions[at],
    before.insertions[at],
  ];
  const deletions = cost - substitutions - insertions;
  return { substitutions, insertions: insertions + heard.length - found.length, deletions };
}

function fill(row: Row, before: Row, wanted: number, found: Uint32Array): void {
  row.costs[0] = (before.costs[0] as number) + 1;
  row.substitutions[0] = row.insertions[0] = 0;
  for (let column = 1; column <= found.length; column++) {
    const isWrong = wanted === found[column - 1] ? 0 : 1;
    let cost = (before.costs[column - 1] as number) + isWrong;
    let substitutions = (before.substitutions[column - 1] as number) + isWrong;
    let insertions = before.insertions[column - 1] as number;
    if ((before.costs[column] as number) + 1 < cost) {
      cost = (before.costs[column] as number) + 1;
      substitutions = before.substitutions[column] as number;
      insertions = before.insertions[column] as number;
    }
    if ((row.costs[column - 1] as number) + 1 < cost) {
      cost = (row.costs[column - 1] as number) + 1;
      substitutions = row.substitutions[column - 1] as number;
      insertions = (row.insertions[column - 1] as number) + 1;
    }
    row.costs[column] = cost;
    row.substitutions[column] = substitutions;
    row.insertions[column] = insertions;
  }
}

const DRAWS = 1_000;
/** With fewer files, drawing among them says nothing. */
const FILES_MIN = 5;

/** Where the rate of further such recordings lies, in 95 of 100 cases: bootstrap over files. Undefined for a few files. */
export function intervalOf(files: readonly { errors: number; units: number }[]): [number, number] | undefined {
  if (files.length < FILES_MIN || files.every(({ units }) => units === 0)) return undefined;
  const random = drawn();
  const rates: number[] = [];
  while (rates.length < DRAWS) {
    let errors = 0;
    let units = 0;
    for (let count = 0; count < files.length; count++) {
      const file = files[Math.floor(random() * files.length)] as { errors: number; units: number };
      errors += file.errors;
      units += file.units;
    }
    if (units > 0) rates.push(errors / units);
  }
  rates.sort((one, other) => one - other);
  return [rates[Math.floor(DRAWS * 0.025)] as number, rates[Math.ceil(DRAWS * 0.975) - 1] as number];
}

/** The same numbers each time, so that a measurement can be repeated: mulberry32. */
function drawn(): () => number {
  let state = 1;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
