// A call whose audio comes in JSON, as Twilio and Telnyx send it: `start`, `media` of one track or two, and `stop`.
import type { Conversation, DeferredAuthEndpoint, Step } from '../compat/dialect.ts';
import { type JsonObject, listIn, numberIn, objectIn, objectOf, textIn } from '../kit/json.ts';
import { audioIn } from '../kit/simulator/checks.ts';
import {
  type CallAudio,
  type CarriedCall,
  callStep,
  KEY_PARAMETER,
  TEXT_BYTES_MAX,
  TOLD_NOTHING,
} from './call-start.ts';

/** Pieces that are kept for one that is missing: a fifth of a second. */
const KEPT_MAX = 10;

export class InOrder<Piece> {
  #next: number | undefined;
  readonly #kept = new Map<number, Piece>();

  /** Those that are next. One that comes later than its successors is told as it comes: none is left out. */
  *take(number: number, piece: Piece): Iterable<Piece> {
    this.#next ??= number;
    if (number > this.#next) {
      this.#kept.set(number, piece);
      if (this.#kept.size <= KEPT_MAX) return;
      // It is missed no longer.
      this.#next = Math.min(...this.#kept.keys());
    } else {
      yield piece;
      if (number < this.#next) return;
      this.#next++;
    }
    yield* this.#followers();
  }

  /** All that is kept. */
  *end(): Iterable<Piece> {
    while (this.#kept.size > 0) {
      this.#next = Math.min(...this.#kept.keys());
      yield* this.#followers();
    }
  }

  *#followers(): Iterable<Piece> {
    for (;;) {
      const next = this.#next as number;
      const piece = this.#kept.get(next);
      if (piece === undefined) return;
      this.#kept.delete(next);
      this.#next = next + 1;
      yield piece;
    }
  }
}

/** A carrier's words of the same things. */
export interface MediaStreamWords {
  /** Where the parameters of the stream stand in `start`. */
  parameters: string;
  callOf(start: JsonObject, message: JsonObject): CarriedCall;
  /**
   * What `start` says of the call's audio. Throws an ApiError.
   *
   * @param asked the parameters; what is not one of a session is taken out
   */
  audioOf(start: JsonObject, asked: Map<string, unknown>): CallAudio;
}

const TRACKS: Readonly<Record<string, Track>> = { inbound: 0, outbound: 1 };
/** Messages that say nothing of the audio. */
const PASSED_OVER = ['connected', 'mark', 'dtmf', 'clear'];
const SILENCE = { mulaw: 0xff, alaw: 0xd5, linear16: 0 };

export function mediaStreamEndpoint(words: MediaStreamWords): DeferredAuthEndpoint {
  return {
    open: ({ query }) => new MediaStream(query, words),
    refused: TOLD_NOTHING.refused,
    // A carrier sets no headers of its own: the key is a parameter of the stream.
    late: (text) => {
      const { event, start } = objectOf(text);
      if (event !== 'start') return undefined;
      return { credential: textIn(objectIn(objectIn(start)[words.parameters])[KEY_PARAMETER]) };
    },
  };
}

class MediaStream implements Conversation {
  readonly textBytesMax = TEXT_BYTES_MAX;
  readonly encode = TOLD_NOTHING.encode;
  readonly close = TOLD_NOTHING.close;
  readonly refused = TOLD_NOTHING.refused;
  readonly #query: URLSearchParams;
  readonly #words: MediaStreamWords;
  #hasStarted = false;
  /** Of a stream of both tracks. */
  #tracks: TwoTracks | undefined;
  /** Of a stream of one: that of the first piece. */
  #track: Track | undefined;
  #hasToldOther = false;
  readonly #inOrder = [new InOrder<Uint8Array>(), new InOrder<Uint8Array>()] as const;

  constructor(query: URLSearchParams, words: MediaStreamWords) {
    this.#query = query;
    this.#words = words;
  }

  *text(text: string): Iterable<Step> {
    const message = objectOf(text);
    const { event } = message;
    if (PASSED_OVER.includes(event as string)) return;
    if (event === 'start' && !this.#hasStarted) yield this.#start(message);
    else if (event === 'media') yield* this.#media(objectIn(message.media));
    else if (event === 'stop') yield* this.#stop();
    else yield { type: 'fault', message: SHAPE };
  }

  *binary(): Iterable<Step> {
    yield { type: 'fault', message: SHAPE };
  }

  #start(message: JsonObject): Step {
    this.#hasStarted = true;
    const words = this.#words;
    const start = objectIn(message.start);
    const asked = new Map<string, unknown>([...this.#query, ...Object.entries(objectIn(start[words.parameters]))]);
    return callStep(words.callOf(start, message), asked, () => {
      const audio = words.audioOf(start, asked);
      if (audio.channels === 2) this.#tracks = new TwoTracks(audio.sampleRate, SILENCE[audio.encoding]);
      return audio;
    });
  }

  *#media({ track: name = 'inbound', payload, chunk }: JsonObject): Iterable<Step> {
    const track = Object.hasOwn(TRACKS, name as string) ? TRACKS[name as string] : undefined;
    const bytes = audioIn(payload);
    if (track === undefined || bytes === undefined) yield { type: 'fault', message: SHAPE, param: 'media' };
    else if (this.#tracks === undefined && track !== this.#theTrack(track)) yield* this.#other();
    else for (const piece of this.#pieces(track, numberIn(Number(chunk)), bytes)) yield* this.#audio(track, piece);
  }

  /** Of a stream of one. */
  #theTrack(track: Track): Track {
    this.#track ??= track;
    return this.#track;
  }

  #pieces(track: Track, chunk: number | undefined, bytes: Uint8Array): Iterable<Uint8Array> {
    return chunk === undefined ? [bytes] : this.#inOrder[track].take(chunk, bytes);
  }

  *#audio(track: Track, piece: Uint8Array): Iterable<Step> {
    const bytes = this.#tracks === undefined ? piece : this.#tracks.take(track, piece);
    if (bytes.byteLength > 0) yield { type: 'audio', bytes };
  }

  /** Said once: it comes fifty times a second. */
  *#other(): Iterable<Step> {
    if (!this.#hasToldOther) yield { type: 'fault', message: OTHER_TRACK, param: 'channels' };
    this.#hasToldOther = true;
  }

  *#stop(): Iterable<Step> {
    for (const track of [0, 1] as const)
      for (const piece of this.#inOrder[track].end()) yield* this.#audio(track, piece);
    const rest = this.#tracks?.end();
    if (rest !== undefined && rest.byteLength > 0) yield { type: 'audio', bytes: rest };
    yield { type: 'tell', message: { type: 'close' } };
  }
}

const SHAPE =
  'A message is JSON with `event`: "start" first, then "media" with `media.track` "inbound" or "outbound" and `media.payload` in base64, and "stop" at the end.';
const OTHER_TRACK =
  'A second track came on a stream of one, and is left out. Ask for both tracks when the stream is begun.';

/** Whether a list of tracks names both. */
export const channelsOf = (tracks: unknown): number =>
  new Set(listIn(tracks).filter((track) => track === 'inbound' || track === 'outbound')).size === 2 ? 2 : 1;

// Two tracks of a call as two channels of one session: samples of both, one of each in turn.
/** How far one track may be behind the other before silence takes its place. */
const BEHIND_MS = 200;

export type Track = 0 | 1;

const NOTHING = new Uint8Array(0);

/** Of samples of one byte. A track's samples are never left out: those that come late come later. */
export class TwoTracks {
  readonly #behindBytes: number;
  readonly #silence: number;
  /** What has come of each track and waits for the other. Of one of them at most there is any. */
  #waiting: Uint8Array = NOTHING;
  #ahead: Track = 0;

  /** @param silence a sample of it */
  constructor(sampleRate: number, silence: number) {
    this.#behindBytes = (sampleRate * BEHIND_MS) / 1000;
    this.#silence = silence;
  }

  /** What can be told by now. */
  take(track: Track, bytes: Uint8Array): Uint8Array {
    if (track === this.#ahead || this.#waiting.byteLength === 0) {
      this.#ahead = track;
      this.#waiting = joined(this.#waiting, bytes);
      return this.#fill(this.#waiting.byteLength - this.#behindBytes);
    }
    const other = this.#waiting;
    const both = Math.min(other.byteLength, bytes.byteLength);
    const told = this.#together(other.subarray(0, both), bytes.subarray(0, both));
    if (bytes.byteLength > both) {
      this.#ahead = track;
      // The server lends its bytes for the time of the call.
      this.#waiting = bytes.slice(both);
      return joined(told, this.#fill(this.#waiting.byteLength - this.#behindBytes));
    }
    this.#waiting = other.subarray(both);
    return told;
  }

  /** What is left of the track that has come further. */
  end(): Uint8Array {
    return this.#fill(this.#waiting.byteLength);
  }

  /** So much of what waits, beside silence. */
  #fill(bytes: number): Uint8Array {
    if (bytes <= 0) return NOTHING;
    const told = this.#together(this.#waiting.subarray(0, bytes), new Uint8Array(bytes).fill(this.#silence));
    this.#waiting = this.#waiting.subarray(bytes);
    return told;
  }

  /** @param ahead of the track that is ahead */
  #together(ahead: Uint8Array, other: Uint8Array): Uint8Array {
    const told = new Uint8Array(ahead.byteLength * 2);
    const [first, second] = this.#ahead === 0 ? [ahead, other] : [other, ahead];
    for (let at = 0; at < first.byteLength; at++) {
      told[at * 2] = first[at] as number;
      told[at * 2 + 1] = second[at] as number;
    }
    return told;
  }
}

function joined(one: Uint8Array, other: Uint8Array): Uint8Array {
  const both = new Uint8Array(one.byteLength + other.byteLength);
  both.set(one);
  both.set(other, one.byteLength);
  return both;
}
