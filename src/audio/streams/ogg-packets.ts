// Packets of Opus out of an Ogg stream that comes in pieces: of the stream in it that has Opus, and of those that follow it. What pages
// say of times is not asked; a page that is damaged is passed over. RFC 3533 and 7845.

import { type OpusHead, opusHead, PACKET_BYTES_MAX } from '../codecs/opus.ts';
import { BEGINS, CONTINUED, PAGE_HEAD_BYTES, pageBytes } from '../containers/ogg.ts';
import { textAt, viewOf } from '../scan.ts';
import { HeldBytes } from './held-bytes.ts';
import { type PacketSource, requireNoContainer, UnsupportedStream } from './sound-stream.ts';

const MARK = Buffer.from('OggS');
/** So much that is not a page ends the session: no encoder leaves it out. */
const SKIPPED_BYTES_MAX = 262_144;
/** The head and the comments of a stream stand before its sound. */
const HEADERS = 2;

export class OggPackets implements PacketSource {
  damaged = 0;
  readonly #held = new HeldBytes();
  #isKnown = false;
  #skippedBytes = 0;
  /** Of the page in front, once it is whole: its segments, the next of them, and where that one lies. */
  #segments = 0;
  #segment = 0;
  #at = 0;
  /** Of the stream that is heard; undefined until there is one. */
  #serial: number | undefined;
  #page = 0;
  #packets = 0;
  /** What has come of a packet that continues on the next page. */
  #begun: Uint8Array | undefined;
  /** What comes next belongs to a packet whose beginning is missing. */
  #isTorn = false;

  get heldBytes(): number {
    return this.#held.length + (this.#begun?.length ?? 0);
  }

  push(bytes: Uint8Array): void {
    this.#held.push(bytes);
  }

  next(): Uint8Array | OpusHead | undefined {
    for (;;) {
      if (this.#segment < this.#segments) {
        const packet = this.#packet();
        if (packet === undefined) continue;
        const index = this.#packets++;
        if (index === 0) return readHead(packet);
        if (index >= HEADERS) return packet;
      } else if (!this.#nextPage()) return undefined;
    }
  }

  /** The next packet of the page; undefined where it continues behind it, or is left out. */
  #packet(): Uint8Array | undefined {
    const from = this.#at;
    let last = 255;
    while (last === 255 && this.#segment < this.#segments) {
      last = this.#held.view(PAGE_HEAD_BYTES + this.#segment++, 1)[0]!;
      this.#at += last;
    }
    const part = this.#held.view(from, this.#at - from);
    const isWhole = last < 255;
    if (this.#isTorn) {
      this.#isTorn = !isWhole;
      return undefined;
    }
    const begun = this.#begun;
    if (begun === undefined && isWhole) return part;
    this.#begun = undefined;
    // Comments may have a picture in them: of what is too long only the beginning is kept.
    const room = PACKET_BYTES_MAX + 1 - (begun?.length ?? 0);
    const joined = Buffer.concat([begun ?? part.subarray(0, 0), part.subarray(0, room)]);
    if (isWhole) return joined;
    this.#begun = joined;
    return undefined;
  }

  /** Goes to the next page of the stream that is heard. False when more bytes have to come. */
  #nextPage(): boolean {
    this.#held.skip(this.#at);
    this.#segments = 0;
    this.#segment = 0;
    this.#at = 0;
    for (;;) {
      const head = this.#held.view(0, PAGE_HEAD_BYTES);
      if (head.length < PAGE_HEAD_BYTES) return false;
      if (!this.#isKnown) this.#begin();
      if (textAt(head, 0, 4) !== 'OggS' || head[4] !== 0) {
        if (!this.#search()) return false;
        continue;
      }
      const segments = head[26]!;
      const table = this.#held.view(0, PAGE_HEAD_BYTES + segments);
      if (table.length < PAGE_HEAD_BYTES + segments) return false;
      const bytes = pageBytes(table);
      const page = this.#held.view(0, bytes);
      if (page.length < bytes) return false;
      if (!isIntact(page)) {
        if (!this.#search()) return false;
      } else if (this.#isHeard(page)) {
        this.#skippedBytes = 0;
        this.#segments = segments;
        this.#at = PAGE_HEAD_BYTES + segments;
        return true;
      } else this.#held.skip(bytes);
    }
  }

  #begin(): void {
    const beginning = this.#held.view(0, PAGE_HEAD_BYTES);
    this.#isKnown = true;
    if (textAt(beginning, 0, 4) === 'OggS') return;
    requireNoContainer(beginning, 'ogg-opus');
    throw new UnsupportedStream(
      'The audio does not begin as Ogg does. With `encoding=ogg-opus` the first message begins with the first page of an Ogg stream with Opus in it.',
    );
  }

  /** Looks for the next page behind what is none. False when more bytes have to come. */
  #search(): boolean {
    if (this.#skippedBytes === 0) this.damaged++;
    const held = this.#held;
    this.#skippedBytes += held.skip(1);
    const found = held.indexOf(MARK);
    this.#skippedBytes += held.skip(found === -1 ? Math.max(0, held.length - MARK.length + 1) : found);
    if (this.#skippedBytes > SKIPPED_BYTES_MAX) {
      throw new UnsupportedStream(
        `${SKIPPED_BYTES_MAX / 1024} KiB in a row hold no page of Ogg that is whole. Send the stream from its beginning, without gaps.`,
      );
    }
    return found !== -1;
  }

  /** Whether the page belongs to the stream that is heard: the first one with Opus, and after its end the next. */
  #isHeard(page: Uint8Array): boolean {
    const view = viewOf(page);
    const serial = view.getUint32(14, true);
    const number = view.getUint32(18, true);
    const flags = page[5]!;
    if ((flags & BEGINS) !== 0) {
      if (textAt(page, PAGE_HEAD_BYTES + page[26]!, 8) !== 'OpusHead') return false;
      this.#serial = serial;
      this.#packets = 0;
      this.#begun = undefined;
      this.#isTorn = false;
    } else if (this.#serial === undefined) {
      throw new UnsupportedStream(
        'The Ogg stream has no Opus in it. Record it with Opus, or post the file to /v1/audio/transcriptions.',
      );
    } else if (serial !== this.#serial) return false;
    else this.#join(number, (flags & CONTINUED) !== 0);
    this.#page = number;
    return true;
  }

  /** What was begun on the page before continues here, or is given up. */
  #join(number: number, isContinued: boolean): void {
    const isNext = number === (this.#page + 1) >>> 0;
    if (!isNext) this.damaged++;
    if (isNext && isContinued && this.#begun !== undefined) return;
    this.#begun = undefined;
    // Where the pages with the headers are missing, what comes now is sound.
    if (!isNext) this.#packets = Math.max(this.#packets, HEADERS);
    this.#isTorn = isContinued;
  }
}

function readHead(packet: Uint8Array): OpusHead {
  const head = opusHead(packet);
  if (head !== undefined) return head;
  throw new UnsupportedStream('The head of the Opus stream is cut off. Send the stream from its beginning.');
}

/** By eight bits at a time: the polynomial of Ogg, from the highest bit on. */
const CRC = Uint32Array.from({ length: 256 }, (_, byte) => {
  let rest = byte << 24;
  for (let bit = 0; bit < 8; bit++) rest = rest & 0x8000_0000 ? (rest << 1) ^ 0x04c1_1db7 : rest << 1;
  return rest;
});
const CRC_AT = 22;

/** Whether the checksum of a page is right; its own four bytes count as zeros. */
function isIntact(page: Uint8Array): boolean {
  let crc = 0;
  for (let at = 0; at < page.length; at++) {
    const byte = at >= CRC_AT && at < CRC_AT + 4 ? 0 : page[at]!;
    crc = (crc << 8) ^ CRC[((crc >>> 24) ^ byte) & 0xff]!;
  }
  return crc >>> 0 === viewOf(page).getUint32(CRC_AT, true);
}
