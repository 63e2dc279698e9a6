// How long an MP4 or M4A file is whose sound comes in fragments, as recorders and streams write it: the fragments are counted,
// because such a file says nothing of its length, or something wrong. ISO/IEC 14496-12; whole files are left to others.
import type { LengthScan, Piece } from './length-scan.ts';

/** A description of the file, or of one fragment, is smaller; only samples are larger. */
const BOX_BYTES_MAX = 1024 * 1024;
const BOX_HEAD_BYTES = 16;

interface Box {
  type: string;
  body: Uint8Array;
}

interface Track {
  id: number;
  /** Of a second. */
  timescale: number;
  /** Samples that are described in front of the fragments. */
  ticks: number;
  sampleTicks: number;
}

/** Seconds of its first sound track; undefined where the file has none, or is not in fragments. */
export function* fragmentedMp4Seconds(size: number): LengthScan {
  let track: Track | undefined;
  const sound = new Fragments();
  for (let at = 0; at + 8 <= size; ) {
    const head: Uint8Array = yield { at, length: BOX_HEAD_BYTES };
    const { type, headBytes, bytes } = boxHead(head, size - at);
    if (bytes < headBytes) return undefined;
    if (type === 'moov' || (type === 'moof' && track !== undefined)) {
      const body: Uint8Array | undefined = yield* whole({ at: at + headBytes, length: bytes - headBytes });
      if (body === undefined) return undefined;
      if (type === 'moov') track = soundTrack(body);
      else if (track !== undefined) sound.add(body, track);
      if (track === undefined) return undefined;
    }
    at += bytes;
  }
  return track === undefined ? undefined : (track.ticks + sound.ticks) / track.timescale;
}

function* whole(piece: Piece): Generator<Piece, Uint8Array | undefined, Uint8Array> {
  if (piece.length > BOX_BYTES_MAX) return undefined;
  const body = yield piece;
  return body.length < piece.length ? undefined : body;
}

function boxHead(head: Uint8Array, left: number): { type: string; headBytes: number; bytes: number } {
  if (head.length < 8) return { type: '', headBytes: 1, bytes: 0 };
  const view = viewOf(head);
  const short = view.getUint32(0);
  const type = text(head, 4);
  if (short === 1) {
    const bytes = head.length < BOX_HEAD_BYTES ? 0 : Number(view.getBigUint64(8));
    return { type, headBytes: BOX_HEAD_BYTES, bytes };
  }
  return { type, headBytes: 8, bytes: short === 0 ? left : short };
}

/** The boxes inside one; what does not fit is left out. */
function boxesOf(body: Uint8Array): Box[] {
  const boxes: Box[] = [];
  for (let at = 0; at + 8 <= body.length; ) {
    const { type, headBytes, bytes } = boxHead(body.subarray(at, at + BOX_HEAD_BYTES), body.length - at);
    if (bytes < headBytes || at + bytes > body.length) break;
    boxes.push({ type, body: body.subarray(at + headBytes, at + bytes) });
    at += bytes;
  }
  return boxes;
}

const inside = (body: Uint8Array | undefined, type: string): Uint8Array | undefined =>
  body === undefined ? undefined : boxesOf(body).find((box) => box.type === type)?.body;

/** Undefined where nothing follows in fragments. */
function soundTrack(moov: Uint8Array): Track | undefined {
  const defaults = inside(moov, 'mvex');
  if (defaults === undefined) return undefined;
  for (const { type, body } of boxesOf(moov)) {
    const media = type === 'trak' ? inside(body, 'mdia') : undefined;
    const handler = inside(media, 'hdlr');
    if (handler === undefined || handler.length < 12 || text(handler, 8) !== 'soun') continue;
    const id = numberAt(inside(body, 'tkhd'), [12, 20]);
    const timescale = numberAt(inside(media, 'mdhd'), [12, 20]);
    if (id === undefined || timescale === undefined || timescale === 0) return undefined;
    const ticks = ticksOfTable(inside(inside(inside(media, 'minf'), 'stbl'), 'stts'));
    return { id, timescale, ticks, sampleTicks: defaultTicks(defaults, id) };
  }
  return undefined;
}

/** The number that stands elsewhere in the longer version of a box. */
function numberAt(body: Uint8Array | undefined, [short, long]: readonly [number, number]): number | undefined {
  if (body === undefined || body.length < long + 4) return undefined;
  return viewOf(body).getUint32(body[0] === 1 ? long : short);
}

function ticksOfTable(stts: Uint8Array | undefined): number {
  if (stts === undefined) return 0;
  const view = viewOf(stts);
  let ticks = 0;
  for (let at = 8; at + 8 <= stts.length; at += 8) ticks += view.getUint32(at) * view.getUint32(at + 4);
  return ticks;
}

function defaultTicks(mvex: Uint8Array, id: number): number {
  const own = boxesOf(mvex).find(({ type, body }) => type === 'trex' && body.length >= 24 && idOf(body) === id);
  return own === undefined ? 0 : viewOf(own.body).getUint32(12);
}

/** The second field of `trex` and `tfhd`. */
const idOf = (body: Uint8Array): number => viewOf(body).getUint32(4);

/** What the fragments of a track add up to. */
class Fragments {
  #sum = 0;
  #firstBegins: number | undefined;
  #lastEnds = 0;

  /** Recorders tell less of their last samples than lies between two fragments; some tell nothing of when they begin. */
  get ticks(): number {
    return Math.max(this.#sum, this.#lastEnds - (this.#firstBegins ?? 0));
  }

  add(moof: Uint8Array, track: Track): void {
    for (const { type, body } of boxesOf(moof)) {
      const header = type === 'traf' ? inside(body, 'tfhd') : undefined;
      if (header === undefined || header.length < 8 || idOf(header) !== track.id) continue;
      const sampleTicks = ownTicks(header) ?? track.sampleTicks;
      let ticks = 0;
      for (const run of boxesOf(body)) if (run.type === 'trun') ticks += ticksOfRun(run.body, sampleTicks);
      this.#sum += ticks;
      const begins = beginningOf(inside(body, 'tfdt'));
      if (begins === undefined) continue;
      this.#firstBegins ??= begins;
      this.#lastEnds = Math.max(this.#lastEnds, begins + ticks);
    }
  }
}

/** When a fragment begins, which it need not say. */
function beginningOf(tfdt: Uint8Array | undefined): number | undefined {
  if (tfdt === undefined || tfdt.length < (tfdt[0] === 1 ? 12 : 8)) return undefined;
  return tfdt[0] === 1 ? Number(viewOf(tfdt).getBigUint64(4)) : viewOf(tfdt).getUint32(4);
}

/** What a fragment says of all its samples, behind the fields that its flags announce. */
function ownTicks(tfhd: Uint8Array): number | undefined {
  const flags = viewOf(tfhd).getUint32(0) & 0xff_ffff;
  if ((flags & 0x8) === 0) return undefined;
  const at = 8 + ((flags & 0x1) === 0 ? 0 : 8) + ((flags & 0x2) === 0 ? 0 : 4);
  return at + 4 <= tfhd.length ? viewOf(tfhd).getUint32(at) : undefined;
}

function ticksOfRun(trun: Uint8Array, sampleTicks: number): number {
  if (trun.length < 8) return 0;
  const view = viewOf(trun);
  const flags = view.getUint32(0) & 0xff_ffff;
  const samples = view.getUint32(4);
  if ((flags & 0x100) === 0) return samples * sampleTicks;
  const first = 8 + ((flags & 0x1) === 0 ? 0 : 4) + ((flags & 0x4) === 0 ? 0 : 4);
  const step = 4 * [0x100, 0x200, 0x400, 0x800].filter((flag) => (flags & flag) !== 0).length;
  let ticks = 0;
  // The duration is the first of a sample's fields.
  for (let at = first, left = samples; left > 0 && at + step <= trun.length; at += step, left--) {
    ticks += view.getUint32(at);
  }
  return ticks;
}

const viewOf = (bytes: Uint8Array): DataView => new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
const text = (bytes: Uint8Array, at: number): string => String.fromCharCode(...bytes.subarray(at, at + 4));
