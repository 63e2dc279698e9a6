// Packets of Opus out of a WebM or Matroska stream that comes in pieces, as a browser's recorder makes it: of its first track of sound.
// What clusters and blocks say of times is not asked. RFC 9559.

import type { OpusHead } from '../codecs/opus.ts';
import {
  BLOCK_HEAD_BYTES,
  CONTAINERS,
  ELEMENT_HEAD_BYTES,
  elementOf,
  isBlock,
  opusTrackIn,
  readBlock,
  TRACKS,
  trackOf,
} from '../containers/webm.ts';
import { HeldBytes } from './held-bytes.ts';
import { type PacketSource, requireNoContainer, UnsupportedStream } from './sound-stream.ts';

/** Where a recording begins. */
const EBML = 0x1a45_dfa3;
/** Of what is read: a block of sound, or the tracks. */
const READ_BYTES_MAX = 262_144;
/** Of what is passed over: pictures of another track, tags. */
const SKIPPED_BYTES_MAX = 16 * 1024 * 1024;

export class WebmPackets implements PacketSource {
  readonly damaged = 0;
  readonly #held = new HeldBytes();
  #isKnown = false;
  /** Of an element that is passed over, what has not come yet. */
  #leftBytes = 0;
  #track: number | undefined;
  #frames: Generator<Uint8Array> | undefined;

  get heldBytes(): number {
    return this.#held.length;
  }

  push(bytes: Uint8Array): void {
    this.#held.push(bytes);
  }

  next(): Uint8Array | OpusHead | undefined {
    for (;;) {
      const frame = this.#frames?.next();
      if (frame?.done === false) return frame.value;
      this.#frames = undefined;
      this.#leftBytes -= this.#held.skip(this.#leftBytes);
      const beginning = this.#held.view(0, ELEMENT_HEAD_BYTES);
      if (this.#leftBytes > 0 || beginning.length === 0) return undefined;
      const element = elementOf(beginning);
      if (element === undefined) {
        // The head of an element may be cut off; whether it can be one shows by its first byte.
        if (beginning.length === ELEMENT_HEAD_BYTES || beginning[0]! < 0x10) throw this.#lost(beginning);
        return undefined;
      }
      const { id, headBytes, bytes } = element;
      if (!this.#isKnown && id !== EBML) throw this.#lost(beginning);
      this.#isKnown = true;
      if (CONTAINERS.includes(id)) {
        this.#held.skip(headBytes);
        continue;
      }
      if (bytes === undefined || bytes > SKIPPED_BYTES_MAX) throw this.#lost(beginning);
      const isRead = this.#isRead(id, headBytes);
      if (isRead === undefined) return undefined;
      if (!isRead) {
        this.#leftBytes = headBytes + bytes;
        continue;
      }
      if (bytes > READ_BYTES_MAX) throw tooLarge(bytes);
      if (this.#held.length < headBytes + bytes) return undefined;
      const body = this.#held.view(headBytes, bytes).slice();
      this.#held.skip(headBytes + bytes);
      if (id === TRACKS) return this.#choose(body);
      this.#frames = readBlock(body)?.frames;
    }
  }

  /** Undefined where that cannot be told yet. */
  #isRead(id: number, headBytes: number): boolean | undefined {
    if (id === EBML) this.#track = undefined;
    if (id === TRACKS) return true;
    if (!isBlock(id)) return false;
    if (this.#track === undefined) {
      throw new UnsupportedStream(
        'The WebM stream has a block before its tracks are described. Send it from its beginning: the first piece of a recording has its head.',
      );
    }
    const head = this.#held.view(headBytes, BLOCK_HEAD_BYTES);
    return head.length === 0 ? undefined : trackOf(head) === this.#track;
  }

  #choose(tracks: Uint8Array): OpusHead {
    const track = opusTrackIn(tracks);
    if (track === undefined) {
      throw new UnsupportedStream('The WebM stream has no sound in it. Record a track of audio.');
    }
    if ('codec' in track) {
      throw new UnsupportedStream(
        `The sound of the WebM stream is ${/^A_[\w/]+$/.exec(track.codec)?.[0].slice(2) ?? 'of no codec that is known here'}; live only Opus is decoded. Record with \`audio/webm;codecs=opus\`.`,
      );
    }
    this.#track = track.number;
    return track.head;
  }

  #lost(beginning: Uint8Array): UnsupportedStream {
    if (!this.#isKnown) requireNoContainer(beginning, 'webm-opus');
    return new UnsupportedStream(
      this.#isKnown
        ? 'The WebM stream is damaged: what comes is no element of it. Send every piece of the recording, in order and once.'
        : 'The audio does not begin as WebM does. With `encoding=webm-opus` the first message begins with the first piece of a recording in WebM or Matroska.',
    );
  }
}

const tooLarge = (bytes: number) =>
  new UnsupportedStream(`The WebM stream has a block of ${bytes} bytes; of sound at most ${READ_BYTES_MAX} are read.`);
