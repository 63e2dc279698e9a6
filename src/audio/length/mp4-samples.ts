// Where the samples of an MP4 track are, in tables or in a fragment, and how many: never more than fit into the file.
// ISO/IEC 14496-12, sections 8.7 and 8.8.
import { boxesOf, inside, wordAt } from './mp4-boxes.ts';
import type { Mp4Codec } from './mp4-codec.ts';
import { viewOf } from './scan.ts';

/** Samples that lie one behind the other. */
export interface Run {
  at: number;
  count: number;
  /** Bytes of the sample with a number. */
  sizeOf(sample: number): number;
}

/** A track of sound. */
export interface Track {
  id: number;
  codec: Mp4Codec;
  /** Of a second. */
  timescale: number;
  /** What its tables and fragments say of its samples. */
  ticks: number;
  runs: Run[];
  /** For all fragments. */
  defaults: { ticks: number; bytes: number };
  /** By the edit list; 0 where it says nothing: fragments come without a length. */
  edits: { shownSeconds: number; skippedSeconds: number };
  /** The movie has no other track, not even of pictures. */
  isAlone: boolean;
}

/** Samples in tables, one run for each chunk. */
export function tableRuns(table: Uint8Array | undefined, fileBytes: number): Run[] {
  const { count, sizeOf } = sizes(table, fileBytes);
  const wide = inside(table, 'co64');
  const offsets = wide ?? inside(table, 'stco');
  const perChunk = inside(table, 'stsc');
  const chunks = Math.min(wordAt(offsets, 4), Math.floor(((offsets?.length ?? 8) - 8) / (wide === undefined ? 4 : 8)));
  const runs: Run[] = [];
  let first = 0;
  for (let chunk = 0, entry = 8; chunk < chunks && first < count; chunk++) {
    // Each entry is for the chunks up to the next one's first.
    if (entry + 24 <= (perChunk?.length ?? 0) && wordAt(perChunk, entry + 12) <= chunk + 1) entry += 12;
    const begin = first;
    const samples = Math.min(wordAt(perChunk, entry + 4), count - first);
    const at = wide === undefined ? wordAt(offsets, 8 + chunk * 4) : Number(viewOf(wide).getBigUint64(8 + chunk * 8));
    runs.push({ at, count: samples, sizeOf: (sample) => sizeOf(begin + sample) });
    first += samples;
  }
  // Decoders may know better where they are.
  if (first < count) runs.push({ at: 0, count: count - first, sizeOf: (sample) => sizeOf(first + sample) });
  return runs;
}

function sizes(table: Uint8Array | undefined, fileBytes: number): Omit<Run, 'at'> {
  const plain = inside(table, 'stsz');
  const all = wordAt(plain, 4);
  if (all > 0) return { count: Math.min(wordAt(plain, 8), Math.floor(fileBytes / all)), sizeOf: () => all };
  if (plain !== undefined) {
    const count = Math.min(wordAt(plain, 8), Math.floor(Math.max(0, plain.length - 12) / 4));
    return { count, sizeOf: (sample) => wordAt(plain, 12 + sample * 4) };
  }
  const small = inside(table, 'stz2');
  if (small === undefined || small.length < 12) return { count: 0, sizeOf: () => 0 };
  const bits = small[7] || 4;
  const count = Math.min(wordAt(small, 8), Math.floor(((small.length - 12) * 8) / bits));
  const sizeOf = (sample: number) => {
    const at = 12 + Math.floor((sample * bits) / 8);
    if (bits === 16) return small[at]! * 256 + small[at + 1]!;
    return bits === 8 ? small[at]! : (small[at]! >> (sample % 2 === 0 ? 4 : 0)) & 15;
  };
  return { count, sizeOf };
}

/** Adds the samples that a fragment has of a track. */
export function addFragment(track: Track, moof: Uint8Array, moofAt: number, fileBytes: number): void {
  for (const { type, body } of boxesOf(moof)) {
    const header = type === 'traf' ? inside(body, 'tfhd') : undefined;
    if (header === undefined || wordAt(header, 4) !== track.id) continue;
    const { baseAt, ticks, bytes } = fragmentHeader(header, track, moofAt);
    let at = baseAt;
    for (const box of boxesOf(body)) {
      if (box.type !== 'trun') continue;
      const run = runOf(box.body, { at, baseAt, ticks, bytes }, fileBytes);
      track.runs.push(run);
      track.ticks += run.ticks;
      at = run.endsAt;
    }
  }
}

/** What a fragment says of all its samples, behind the fields that its flags announce. */
function fragmentHeader(tfhd: Uint8Array, { defaults }: Track, moofAt: number) {
  const flags = wordAt(tfhd, 0);
  let at = 8;
  const field = (flag: number, bytes: number): number | undefined => {
    if ((flags & flag) === 0) return undefined;
    at += bytes;
    return wordAt(tfhd, at - 4);
  };
  const base = field(0x1, 8);
  const high = base === undefined ? 0 : wordAt(tfhd, at - 8);
  field(0x2, 4);
  const ticks = field(0x8, 4) ?? defaults.ticks;
  const bytes = field(0x10, 4) ?? defaults.bytes;
  return { baseAt: base === undefined ? moofAt : high * 2 ** 32 + base, ticks, bytes };
}

function runOf(
  trun: Uint8Array,
  from: { at: number; baseAt: number; ticks: number; bytes: number },
  fileBytes: number,
): Run & { ticks: number; endsAt: number } {
  const flags = wordAt(trun, 0);
  const first = 8 + ((flags & 0x1) === 0 ? 0 : 4) + ((flags & 0x4) === 0 ? 0 : 4);
  const step = 4 * [0x100, 0x200, 0x400, 0x800].filter((flag) => (flags & flag) !== 0).length;
  const most = step === 0 ? Math.floor(fileBytes / (from.bytes || 1)) : Math.floor((trun.length - first) / step);
  const count = Math.max(0, Math.min(wordAt(trun, 4), most));
  // The duration is the first of a sample's fields, the size the second.
  const sizeAt = first + ((flags & 0x100) === 0 ? 0 : 4);
  const fields = trun.slice();
  const sizeOf = (sample: number) => ((flags & 0x200) === 0 ? from.bytes : wordAt(fields, sizeAt + sample * step));
  const at = (flags & 0x1) === 0 ? from.at : from.baseAt + (wordAt(trun, 8) | 0);
  let ticks = (flags & 0x100) === 0 ? count * from.ticks : 0;
  let endsAt = at;
  if (step === 0) endsAt += count * from.bytes;
  else {
    for (let sample = 0; sample < count; sample++) {
      if ((flags & 0x100) !== 0) ticks += wordAt(trun, first + sample * step);
      endsAt += sizeOf(sample);
    }
  }
  return { at, count, sizeOf, ticks, endsAt };
}
