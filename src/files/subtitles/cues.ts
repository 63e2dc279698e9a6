// Subtitles out of what a model heard: cues of a size that can be read, cut between words at the times that the model gave, or
// at estimated ones. How they are written down is in formats.ts.
import type { Utterance } from '../../../machines/events.ts';
import { type Piece, piecesOf } from './pieces.ts';

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

const SENTENCE_END = /[.!?。！？…]["'”’)\]]*$/u;

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
