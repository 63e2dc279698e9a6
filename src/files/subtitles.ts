// Subtitles out of what a model heard, as SubRip and as WebVTT: cues of a size that can be read, cut between words at the times that the
// model gave, or at estimated ones.
import type { Utterance, Word } from '../../machines/events.ts';

/** One subtitle. Milliseconds; `endMs` is behind `startMs`, and not behind the next one's start. */
export interface Cue {
  startMs: number;
  endMs: number;
  /** One or two, none empty. */
  lines: string[];
  speaker: number | undefined;
}

export interface Cues {
  cues: Cue[];
  /** Times were made up, where the model gave none. */
  isEstimated: boolean;
}

/** How large a cue may be, and how its speakers are called. East Asian characters count twice. */
export interface CueLayout {
  lineWidthMax: number;
  linesMax: number;
  nameOf(speaker: number): string;
}

/** What people can read at a glance: the figures that broadcasters publish. */
export const USUAL_LAYOUT: CueLayout = { lineWidthMax: 42, linesMax: 2, nameOf: (speaker) => `Speaker ${speaker}` };
const CUE_MS_MAX = 7_000;
/** Silence that a subtitle does not stand through. */
const PAUSE_MS = 1_500;
/** A shorter cue is not seen: it stays where there is room, and the next waits for it where there is not. */
const CUE_MS_MIN = 500;
/** A cue that had to wait stands as long as it would have, and at least this long: more would delay all that follow. */
const DELAYED_CUE_MS_MIN = 200;

/** Also of Chinese and Japanese. Written as escapes: one other character would double the program's source in memory. */
const SENTENCE_END = /[.!?\u3002\uff01\uff1f\u2026]["'\u201d\u2019)\]]*$/u;

/**
 * The cues of utterances, in their order, with every word of them.
 *
 * @param seconds length of the audio
 * @param isTimed false where the model gave no times at all
 */
export function cuesOf(
  utterances: readonly Utterance[],
  seconds: number,
  isTimed: boolean,
  layout = USUAL_LAYOUT,
): Cues {
  const cues: Cue[] = [];
  let isEstimated = false;
  for (const [index, utterance] of utterances.entries()) {
    const { pieces, hasTimes } = piecesOf(utterance, utterances[index + 1]?.start ?? seconds);
    const own = groupsOf(pieces, layout).map((group) => cueOf(group, layout));
    // An utterance that is one cue has its own times; only cuts in it need more.
    if (!hasTimes && (own.length > 1 || !isTimed || utterance.end <= utterance.start)) isEstimated ||= own.length > 0;
    cues.push(...own);
  }
  return { cues: inTurn(cues), isEstimated };
}

/** Pieces that stand on the screen together. */
function groupsOf(pieces: readonly Piece[], layout: CueLayout): Piece[][] {
  const groups: Piece[][] = [];
  for (const piece of pieces) {
    const group = groups.at(-1);
    if (group === undefined || !belongsTo(group, piece, layout)) groups.push([piece]);
    else group.push(piece);
  }
  return groups;
}

function belongsTo(group: readonly Piece[], piece: Piece, layout: CueLayout): boolean {
  const { lineWidthMax, linesMax } = layout;
  const first = group[0] as Piece;
  const last = group.at(-1) as Piece;
  if (piece.speaker !== first.speaker) return false;
  if (piece.endMs - first.startMs > CUE_MS_MAX || piece.startMs - last.endMs > PAUSE_MS) return false;
  if (SENTENCE_END.test(last.text) && widthOf(joined(group)) >= lineWidthMax / 2) return false;
  const lines = linesOf([...group, piece], layout);
  return (
    lines.length <= linesMax && lines.every((line, index) => widthOf(line) <= roomOf(index, first.speaker, layout))
  );
}

function cueOf(group: readonly Piece[], layout: CueLayout): Cue {
  const { startMs, speaker } = group[0] as Piece;
  const endMs = Math.max(...group.map((piece) => piece.endMs));
  return { startMs, endMs: Math.min(endMs, startMs + CUE_MS_MAX), lines: linesOf(group, layout), speaker };
}

/** A piece that is wider than a line has one for itself. */
function linesOf(group: readonly Piece[], layout: CueLayout): string[] {
  const lines: string[] = [];
  for (const { text, isGlued } of group) {
    const line = lines.at(-1);
    const longer = line === undefined ? text : `${line}${isGlued ? '' : ' '}${text}`;
    const room = roomOf(lines.length - 1, group[0]?.speaker, layout);
    if (line === undefined || widthOf(longer) > room) lines.push(text);
    else lines[lines.length - 1] = longer;
  }
  return lines;
}

/** The first line may have to name the speaker as well. */
const roomOf = (line: number, speaker: number | undefined, { lineWidthMax, nameOf }: CueLayout): number =>
  lineWidthMax - (line === 0 && speaker !== undefined ? nameOf(speaker).length + 2 : 0);

const joined = (group: readonly Piece[]): string =>
  group.map(({ text, isGlued }, index) => (index === 0 || isGlued ? text : ` ${text}`)).join('');

const WIDE = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\u3000-\u303f\uff01-\uff60]/u;

function widthOf(text: string): number {
  let width = 0;
  for (const character of text) width += WIDE.test(character) ? 2 : 1;
  return width;
}

/** People may speak at the same time, and subtitles may not: each one leaves when the next comes. */
function inTurn(cues: readonly Cue[]): Cue[] {
  const placed: Cue[] = [];
  for (const cue of cues) {
    const before = placed.at(-1);
    const earliestMs =
      before === undefined ? 0 : before.startMs + Math.max(1, Math.min(CUE_MS_MIN, before.endMs - before.startMs));
    const startMs = Math.max(cue.startMs, earliestMs);
    if (before !== undefined) {
      const leavesMs = Math.max(before.endMs, before.startMs + CUE_MS_MIN);
      before.endMs = Math.min(leavesMs, startMs);
    }
    const ownMs = Math.min(CUE_MS_MIN, Math.max(DELAYED_CUE_MS_MIN, cue.endMs - cue.startMs));
    placed.push({ ...cue, startMs, endMs: Math.max(cue.endMs, startMs + ownMs) });
  }
  const last = placed.at(-1);
  if (last !== undefined) last.endMs = Math.max(last.endMs, last.startMs + CUE_MS_MIN);
  return placed;
}

/** A word as it is written, or a part of a text that is written without spaces. */
interface Piece {
  text: string;
  /** No space stands before it. */
  isGlued: boolean;
  startMs: number;
  /** Not before `startMs`. */
  endMs: number;
  speaker: number | undefined;
}

/** A text without a space is taken apart from so many characters on, where its writing knows no spaces. */
const UNBROKEN_MAX = 20;
const WITHOUT_SPACES =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u;
const segmenter = new Intl.Segmenter(undefined, { granularity: 'word' });
/** How fast people speak, for a text that has no time at all. */
const CHARACTERS_PER_SECOND = 15;

/**
 * The pieces of an utterance, in order, with every character of it but its spaces.
 *
 * @param until where the next utterance begins, or the audio ends: a text without any times may last until then
 */
function piecesOf(utterance: Utterance, until: number): { pieces: Piece[]; hasTimes: boolean } {
  const texts = textsOf(utterance.text);
  const words = (utterance.words ?? []).filter(({ word }) => countOf(word) > 0);
  const hasTimes = words.length > 0;
  const timeline = hasTimes ? timelineOfWords(words) : evenTimeline(utterance, until);
  const weightOf = (text: string) => Math.max(hasTimes ? 0 : 1, countOf(text));
  const total = texts.reduce((sum, { text }) => sum + weightOf(text), 0);
  const scale = timeline.count / Math.max(1, total);
  let at = 0;
  let latestMs = 0;
  const pieces = texts.map(({ text, isGlued }) => {
    const count = weightOf(text);
    const span = timeline.spanOf(at * scale, (at + count) * scale);
    at += count;
    const startMs = Math.max(latestMs, msOf(span.start));
    latestMs = startMs;
    return {
      text,
      isGlued,
      startMs,
      endMs: Math.max(startMs, msOf(span.end)),
      speaker: span.speaker ?? utterance.speaker,
    };
  });
  return { pieces, hasTimes };
}

const msOf = (seconds: number): number => (Number.isFinite(seconds) ? Math.max(0, Math.round(seconds * 1000)) : 0);

function textsOf(text: string): { text: string; isGlued: boolean }[] {
  return text
    .split(/\s+/u)
    .filter((token) => token !== '')
    .flatMap((token) => {
      const parts = token.length > UNBROKEN_MAX && WITHOUT_SPACES.test(token) ? unbroken(token) : [token];
      return parts.map((part, index) => ({ text: part, isGlued: index > 0 }));
    });
}

/** The words of a text without spaces, each with the punctuation behind it. */
function unbroken(token: string): string[] {
  const parts: string[] = [];
  for (const { segment, isWordLike } of segmenter.segment(token)) {
    if (isWordLike || parts.length === 0) parts.push(segment);
    else parts[parts.length - 1] += segment;
  }
  return parts;
}

/** What time characters were said at, counted from the first of an utterance. */
interface Timeline {
  readonly count: number;
  spanOf(from: number, to: number): { start: number; end: number; speaker: number | undefined };
}

/** Letters and digits: words come without the punctuation of their text, as often as not. */
const countOf = (text: string): number => text.match(/[\p{L}\p{N}\p{M}]/gu)?.length ?? 0;

/** Words may be spelt in another way than their text; what is so far in the text is so far in the words. */
function timelineOfWords(words: readonly Word[]): Timeline {
  const ends: number[] = [];
  let count = 0;
  for (const { word } of words) {
    count += countOf(word);
    ends.push(count);
  }
  /** The word that a character belongs to. */
  const wordAt = (character: number): Word => {
    let low = 0;
    let high = ends.length - 1;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((ends[middle] as number) > character) high = middle;
      else low = middle + 1;
    }
    return words[low] as Word;
  };
  return {
    count,
    spanOf: (from, to) => {
      // Of a text as long as its words both fall on the same borders, except for what adding up fractions costs.
      const first = wordAt(from + 1e-6);
      return { start: first.start, end: wordAt(to - 1e-6).end, speaker: first.speaker };
    },
  };
}

function evenTimeline({ text, start, end }: Utterance, until: number): Timeline {
  const spoken = Math.max(1, text.length / CHARACTERS_PER_SECOND);
  const last = end > start ? end : until > start ? Math.min(until, start + spoken) : start + spoken;
  const at = (share: number) => start + (last - start) * share;
  return { count: 1, spanOf: (from, to) => ({ start: at(from), end: at(to), speaker: undefined }) };
}

/** SubRip: `1`, `00:00:00,000 --> 00:00:01,000`, the lines. It knows no escapes; without cues it is an empty file. */
export const srtOf = (cues: readonly Cue[], { nameOf } = USUAL_LAYOUT): string =>
  cues
    .map(({ startMs, endMs, lines, speaker }, index) => {
      const who = speaker === undefined ? '' : `${nameOf(speaker)}: `;
      return `${index + 1}\n${timeOf(startMs, ',')} --> ${timeOf(endMs, ',')}\n${who}${lines.join('\n')}\n\n`;
    })
    .join('');

/** WebVTT, where a speaker is a voice. */
export const vttOf = (cues: readonly Cue[], { nameOf } = USUAL_LAYOUT): string =>
  `WEBVTT\n\n${cues
    .map(({ startMs, endMs, lines, speaker }) => {
      const who = speaker === undefined ? '' : `<v ${escaped(nameOf(speaker))}>`;
      return `${timeOf(startMs, '.')} --> ${timeOf(endMs, '.')}\n${who}${escaped(lines.join('\n'))}\n\n`;
    })
    .join('')}`;

/** What would be a tag, a reference or an arrow. */
const escaped = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

/** Hours have two digits, or as many more as they need. */
function timeOf(ms: number, mark: ',' | '.'): string {
  const two = (count: number) => String(Math.floor(count)).padStart(2, '0');
  const rest = String(ms % 1000).padStart(3, '0');
  return `${two(ms / 3_600_000)}:${two((ms / 60_000) % 60)}:${two((ms / 1000) % 60)}${mark}${rest}`;
}
