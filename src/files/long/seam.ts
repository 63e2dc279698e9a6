// Joins the transcripts of two parts that share a few seconds of audio, so that each word of these is there once. The two are compared
// word by word: where both have the same words, the text changes over from one to the other. Pure.
import type { Utterance, Word } from '../../../machines/events.ts';

/** The audio that both parts have, in seconds of the file. */
export interface Seam {
  from: number;
  to: number;
}

/** A word of a text, or a character of a script without spaces. */
interface Token {
  /** As it is compared. */
  key: string;
  /** Its utterance, and where it is in its text. */
  utterance: number;
  from: number;
  to: number;
  /** The timed word that it is, or belongs to. */
  word: number | undefined;
  /** Its middle in seconds, estimated where it has no time. */
  at: number;
  isTimed: boolean;
}

/** The same words in both transcripts. */
interface Run {
  /** Behind the last token of it, in each. */
  beforeEnd: number;
  afterEnd: number;
  length: number;
  /** How badly it fits: among runs of one length the best counts. */
  misfit: number;
}

const TOKEN =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]|[\p{L}\p{N}\p{M}]+(?:['\u2019][\p{L}\p{N}\p{M}]+)*/gu;
/** Closes a sentence or a quotation, right after a word. */
const CLOSING = /^[^\s\p{L}\p{N}\p{M}]+/u;
const OPENING = /[("'\u00a1\u00ab\u00bf\u2018\u201c\u300c\u300e]+$/u;
/** More is not said in a second, in any script. */
const TOKENS_PER_SECOND = 8;
const TOKENS_SPARE = 4;
/** Times of one word, as it was found in two parts, differ by less. */
const SAME_WORD_SECONDS = 0.4;
/** An utterance may be this much earlier or later than a model says. */
const MISPLACED_SECONDS = 1;
/** Of two texts without times, so many of the words that would lie side by side have to be the same. */
const SAME_WORDS_SHARE = 1 / 2;
/** Words of an utterance that are looked through for the next token of its text. */
const WORDS_AHEAD = 4;

/** What is left of both, in their order: no word of the seam twice, and none lost. */
export function joinedAt(
  seam: Seam,
  before: readonly Utterance[],
  after: readonly Utterance[],
): [Utterance[], Utterance[]] {
  const count = Math.ceil((seam.to - seam.from) * TOKENS_PER_SECOND) + TOKENS_SPARE;
  const allTail = tailTokens(before, count, seam.from - MISPLACED_SECONDS);
  const allHead = headTokens(after, count, seam.to + MISPLACED_SECONDS);
  const tail = allTail.filter(({ at, isTimed }) => !isTimed || at >= seam.from - SAME_WORD_SECONDS);
  const head = allHead.filter(({ at, isTimed }) => !isTimed || at <= seam.to + SAME_WORD_SECONDS);
  const run = bestRun(tail, head);
  if (run !== undefined) {
    const last = head[run.afterEnd - 1] as Token;
    const closing = CLOSING.exec((after[last.utterance] as Utterance).text.slice(last.to))?.[0] ?? '';
    const rest = afterToken(after, last);
    const kept = upToToken(before, tail[run.beforeEnd - 1] as Token, rest.length === 0 ? undefined : closing);
    return inOrder(seam, kept, rest);
  }
  if (!tail.some(({ isTimed }) => isTimed) && !head.some(({ isTimed }) => isTimed)) {
    return inOrder(seam, [...before], [...after]);
  }
  const middle = (seam.from + seam.to) / 2;
  const lastKept = allTail.findLast(({ at }) => at < middle);
  const lastDropped = allHead.findLast(({ at }) => at < middle);
  return inOrder(
    seam,
    lastKept === undefined ? withoutTail(before, allTail[0]) : upToToken(before, lastKept),
    lastDropped === undefined ? [...after] : afterToken(after, lastDropped),
  );
}

/** The longest run of words that both have; at the same time, where both have times. */
function bestRun(tail: readonly Token[], head: readonly Token[]): Run | undefined {
  let best: Run | undefined;
  for (let first = 0; first < tail.length; first++) {
    for (let second = 0; second < head.length; second++) {
      const run = runAt(tail, head, first, second);
      if (run !== undefined && (best === undefined || isBetter(run, best))) best = run;
    }
  }
  return best;
}

const isBetter = (run: Run, other: Run): boolean =>
  run.length > other.length || (run.length === other.length && run.misfit < other.misfit);

function runAt(tail: readonly Token[], head: readonly Token[], first: number, second: number): Run | undefined {
  let length = 0;
  let apartSeconds = 0;
  let areTimed = true;
  for (; first + length < tail.length && second + length < head.length; length++) {
    const [one, other] = [tail[first + length] as Token, head[second + length] as Token];
    const isBoth = one.isTimed && other.isTimed;
    if (one.key !== other.key || (isBoth && Math.abs(one.at - other.at) > SAME_WORD_SECONDS)) break;
    areTimed &&= isBoth;
    apartSeconds += Math.abs(one.at - other.at);
  }
  if (length === 0) return undefined;
  if (!areTimed && !isLikely(tail, head, first - second)) return undefined;
  const dropped = tail.length - first - length + second;
  return { beforeEnd: first + length, afterEnd: second + length, length, misfit: areTimed ? apartSeconds : dropped };
}

/**
 * Whether two texts without times may lie so: the second begins within the first, and most of what they then share is the same.
 *
 * @param offset of the first word of the second among those of the first
 */
function isLikely(tail: readonly Token[], head: readonly Token[], offset: number): boolean {
  const shared = tail.length - offset;
  if (offset < 0 || shared > head.length) return false;
  const same = tail.slice(offset).filter(({ key }, place) => head[place]?.key === key).length;
  return same >= shared * SAME_WORDS_SHARE;
}

/** The utterances up to the end of a token. @param closing what follows it, in place of what followed it there */
function upToToken(utterances: readonly Utterance[], token: Token, closing?: string): Utterance[] {
  const { utterance: place, to, word, at } = token;
  const whole = utterances[place] as Utterance;
  const own = CLOSING.exec(whole.text.slice(to))?.[0] ?? '';
  const isAll = whole.text.slice(to + own.length).trim() === '';
  const text = whole.text.slice(0, to) + (closing ?? own);
  if (isAll) return [...utterances.slice(0, place), { ...whole, text }];
  const words = whole.words?.filter((each, index) => (word === undefined ? middleOf(each) <= at : index <= word));
  const end = words?.at(-1)?.end ?? Math.min(whole.end, at);
  const kept: Utterance = {
    ...whole,
    text,
    end: Math.max(whole.start, end),
    ...(words === undefined ? {} : { words }),
  };
  return [...utterances.slice(0, place), kept];
}

/** The utterances from the token after this one on. */
function afterToken(utterances: readonly Utterance[], token: Token): Utterance[] {
  const { utterance: place, to, word, at } = token;
  const whole = utterances[place] as Utterance;
  const rest = whole.text.slice(to);
  const [next] = rest.matchAll(TOKEN);
  const following = utterances.slice(place + 1);
  if (next === undefined) return following;
  const opening = OPENING.exec(rest.slice(0, next.index))?.[0] ?? '';
  const text = rest.slice(next.index - opening.length);
  const words = whole.words?.filter((each, index) => (word === undefined ? middleOf(each) > at : index > word));
  const start = words?.[0]?.start ?? Math.max(whole.start, at);
  const kept: Utterance = {
    ...whole,
    text,
    start: Math.min(start, whole.end),
    ...(words === undefined ? {} : { words }),
  };
  return [kept, ...following];
}

/** The utterances up to a token. */
function withoutTail(utterances: readonly Utterance[], token: Token | undefined): Utterance[] {
  if (token === undefined) return [...utterances];
  const whole = utterances[token.utterance] as Utterance;
  const text = whole.text.slice(0, token.from).trimEnd();
  const words = whole.words?.filter((each, index) =>
    token.word === undefined ? middleOf(each) < token.at : index < token.word,
  );
  const kept = utterances.slice(0, token.utterance);
  if (text === '') return kept;
  const end = words?.at(-1)?.end ?? Math.min(whole.end, token.at);
  return [...kept, { ...whole, text, end: Math.max(whole.start, end), ...(words === undefined ? {} : { words }) }];
}

/** Both with times that only grow over the seam. */
function inOrder(seam: Seam, before: readonly Utterance[], after: readonly Utterance[]): [Utterance[], Utterance[]] {
  const kept = before.map((each) =>
    each.end <= seam.to ? each : withTimes(each, (seconds) => Math.min(seconds, seam.to)),
  );
  const latest = kept.reduce((end, each) => Math.max(end, each.end), 0);
  const rest = after.map((each) =>
    each.start >= latest ? each : withTimes(each, (seconds) => Math.max(seconds, latest)),
  );
  return [kept, rest];
}

/** The utterance with other times, those of its words included. */
export function withTimes(utterance: Utterance, place: (seconds: number) => number): Utterance {
  const { start, end, words } = utterance;
  const placed: Utterance = { ...utterance, start: place(start), end: place(end) };
  if (words !== undefined) {
    placed.words = words.map((word) => ({ ...word, start: place(word.start), end: place(word.end) }));
  }
  return placed;
}

/** The last tokens of utterances that end after a time. */
function tailTokens(utterances: readonly Utterance[], count: number, from: number): Token[] {
  const tokens: Token[] = [];
  for (let place = utterances.length - 1; place >= 0 && tokens.length < count; place--) {
    const utterance = utterances[place] as Utterance;
    if (utterance.end >= from) tokens.unshift(...tokensOf(utterance, place));
  }
  return tokens.slice(-count);
}

/** The first tokens of utterances that begin before a time. */
function headTokens(utterances: readonly Utterance[], count: number, to: number): Token[] {
  const tokens: Token[] = [];
  for (const [place, utterance] of utterances.entries()) {
    if (tokens.length >= count) break;
    if (utterance.start <= to) tokens.push(...tokensOf(utterance, place));
  }
  return tokens.slice(0, count);
}

function tokensOf({ text, start, end, words = [] }: Utterance, utterance: number): Token[] {
  const spoken = words.flatMap(({ word }, index) => keysIn(word).map((key) => ({ key, index })));
  let next = 0;
  let word: number | undefined;
  return [...text.matchAll(TOKEN)].map(({ 0: said, index: from }) => {
    const key = keyOf(said);
    const ahead = spoken.slice(next, next + WORDS_AHEAD).findIndex((each) => each.key === key);
    const isTimed = ahead >= 0;
    if (isTimed) {
      word = spoken[next + ahead]?.index;
      next += ahead + 1;
    }
    const estimated = start + ((end - start) * (from + said.length / 2)) / text.length;
    const at = isTimed ? middleOf(words[word as number] as Word) : estimated;
    return { key, utterance, from, to: from + said.length, word, at, isTimed };
  });
}

const keysIn = (text: string): string[] => [...text.matchAll(TOKEN)].map(([said]) => keyOf(said));

const keyOf = (said: string): string => said.normalize('NFKC').toLowerCase().replaceAll('\u2019', "'");

const middleOf = ({ start, end }: Pick<Word, 'start' | 'end'>): number => (start + end) / 2;
