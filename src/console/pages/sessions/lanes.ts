// Where things stand on the timeline of a session: shares of the time from its first frame to its last, from 0 to 1.
import type { AudioFrame, MarkName, WatchedFrame } from '../../../api/console/watching.ts';
import { reasonText } from '../../data/format.ts';

export interface Bar {
  from: number;
  to: number;
  model: string;
  /** Which colour of the series. */
  series: number;
  words: string;
}

export interface Tick {
  at: number;
  mark: MarkName;
  words: string;
}

export interface Lanes {
  seconds: number;
  legs: Bar[];
  turns: Tick[];
  events: Tick[];
  audio: { at: number; frame: AudioFrame }[];
  /** Where watching began: audio, money and charts before it are not known. Undefined where all is. */
  watchedFrom: number | undefined;
}

const SERIES = 4;
/** A shorter share of time before watching began cannot be seen. */
const UNWATCHED_MIN = 0.03;
/** So that the first second of a session is not drawn over the whole width. */
const SECONDS_MIN = 10;

export const atMs = ({ at }: Pick<WatchedFrame, 'at'>): number => new Date(at).getTime();

export function lanesOf(frames: readonly WatchedFrame[]): Lanes {
  const [first] = frames;
  const last = frames.at(-1);
  if (first === undefined || last === undefined)
    return { seconds: 0, legs: [], turns: [], events: [], audio: [], watchedFrom: undefined };
  const fromMs = atMs(first);
  const seconds = Math.max(SECONDS_MIN, (atMs(last) - fromMs) / 1000);
  const shareOf = (frame: WatchedFrame) => Math.max(0, (atMs(frame) - fromMs) / 1000 / seconds);
  const models: string[] = [];
  // The session may have been watched before: then there is audio from that time.
  const watched = frames.find(({ kind }) => kind === 'actors' || kind === 'audio');
  const share = watched === undefined ? 0 : shareOf(watched);
  const watchedFrom = share < UNWATCHED_MIN ? undefined : share;
  const lanes: Lanes = { seconds, legs: [], turns: [], events: [], audio: [], watchedFrom };
  let open: Bar | undefined;
  const close = (frame: WatchedFrame, why = '') => {
    if (open === undefined) return;
    open.to = shareOf(frame);
    open.words += why;
    open = undefined;
  };
  for (const frame of frames) {
    if (frame.kind === 'audio') lanes.audio.push({ at: shareOf(frame), frame });
    if (frame.kind === 'ended') close(frame);
    if (frame.kind !== 'mark') continue;
    const { mark, model = '', text } = frame;
    const words = [model, text, spanOf(frame)].filter((part) => part !== '').join(', ');
    if (mark.startsWith('turn_')) {
      const what = mark === 'turn_final' ? '' : `${wordsOfMark(mark)}: `;
      lanes.turns.push({ at: shareOf(frame), mark, words: what + words });
    } else if (mark === 'leg_opened') {
      close(frame);
      if (!models.includes(model)) models.push(model);
      const at = shareOf(frame);
      open = { from: at, to: shareOf(last), model, series: (models.indexOf(model) % SERIES) + 1, words };
      lanes.legs.push(open);
    } else {
      if (mark === 'leg_lost') close(frame, `, lost: ${reasonText(text)}`);
      if (mark === 'suspended') close(frame, ', released: no audio arrived');
      lanes.events.push({ at: shareOf(frame), mark, words: `${wordsOfMark(mark)}: ${words}` });
    }
  }
  return lanes;
}

export const wordsOfMark = (mark: MarkName): string => mark.replaceAll('_', ' ');

function spanOf({ start, end }: { start?: number | undefined; end?: number | undefined }): string {
  return start === undefined || end === undefined ? '' : `${start.toFixed(1)}–${end.toFixed(1)} s`;
}
