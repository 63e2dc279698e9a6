// What is redacted in an interim of a long turn: each interim is the one before it with a few words more, so only the end of it is read
// again. What lies further back cannot change any more, whatever follows.
import type { RedactionClass } from '../api/redaction.ts';
import { type Caution, type Found, find } from './find.ts';
import type { Match } from './match.ts';
import { isSeparator, numbersOf } from './numbers.ts';
import { tokensOf } from './tokens.ts';

/** Characters of an interim up to which all of it is read: of minutes of speech. */
export const WHOLE_CHARS_MAX = 8_192;
/** Characters at the end that may still become a part of something: more than any match with the words that tell of it. */
const OPEN_CHARS = 2_048;
/** Read before what is new, for words that tell what a number is. */
const BEFORE_CHARS = 2_048;
/** Characters in which a place is sought where nothing can be cut. */
const SOUGHT_CHARS = 512;
/** Plain words in a row between which no number, address or date continues. */
const PLAIN_WORDS = 4;

interface Settled {
  /** As far as nothing can change any more. */
  text: string;
  /** Where to begin to read. */
  readFrom: number;
  /** All that end before the end of it. */
  matches: readonly Match[];
  classes: ReadonlySet<RedactionClass>;
}

export class GrowingText {
  #settled: Settled | undefined;
  /** Characters that were read so far, for tests of what a text costs. */
  charsRead = 0;

  /** As `find` gives it, of a text that continues the last one or is another. */
  readonly find = (
    text: string,
    classes: ReadonlySet<RedactionClass>,
    caution: Caution = 'settled',
    known: readonly Match[] = [],
  ): Found => {
    if (text.length <= WHOLE_CHARS_MAX || known.length > 0) {
      this.#settled = undefined;
      this.charsRead += text.length;
      return find(text, classes, caution, known);
    }
    if (this.#settled?.classes !== classes || !text.startsWith(this.#settled.text)) this.#settled = undefined;
    this.charsRead += text.length - (this.#settled?.readFrom ?? 0);
    const found = this.#settled === undefined ? find(text, classes, caution) : continued(text, this.#settled, caution);
    this.#settle(text, classes, found.matches);
    return found;
  };

  #settle(text: string, classes: ReadonlySet<RedactionClass>, matches: readonly Match[]): void {
    const before = this.#settled?.text.length ?? 0;
    if (text.length - before < 3 * OPEN_CHARS) return;
    const end = plainPlace(text, text.length - OPEN_CHARS);
    const readFrom = end === undefined ? undefined : plainPlace(text, end - BEFORE_CHARS);
    if (end === undefined || readFrom === undefined || matches.some((match) => match.from < end && match.to > end))
      return;
    const own = matches.filter((match) => match.to <= end);
    this.#settled = { text: text.slice(0, end), readFrom, matches: own, classes };
  }
}

function continued(text: string, { text: settled, readFrom, matches, classes }: Settled, caution: Caution): Found {
  const found = find(text.slice(readFrom), classes, caution);
  const later = found.matches
    .map((match) => ({ ...match, from: match.from + readFrom, to: match.to + readFrom }))
    .filter((match) => match.from >= settled.length);
  const openFrom = found.openFrom === undefined ? undefined : found.openFrom + readFrom;
  return { matches: [...matches, ...later], openFrom };
}

/** The last place not behind that one with plain words on both sides; undefined where there is none near it. */
function plainPlace(text: string, latest: number): number | undefined {
  const earliest = Math.max(0, latest - SOUGHT_CHARS);
  const tokens = tokensOf(text.slice(earliest, latest));
  const ofNumbers = new Set<number>();
  for (const { first, last } of numbersOf(tokens)) for (let at = first; at <= last; at++) ofNumbers.add(at);
  let plain = 0;
  // The first and the last token may be cut.
  for (let at = tokens.length - 2; at > 0; at--) {
    const token = tokens[at];
    const isPlain =
      token?.kind === 'word' && token.text.length > 1 && token.isSpaced && !isSeparator(token) && !ofNumbers.has(at);
    plain = isPlain ? plain + 1 : 0;
    if (plain === PLAIN_WORDS) return earliest + (tokens[at + PLAIN_WORDS / 2]?.from ?? 0);
  }
  return undefined;
}
