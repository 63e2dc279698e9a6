// The tracks of an MP4 that may be sound, as its `moov` box describes them. ISO/IEC 14496-12, section 8.
import { boxesOf, inside, wordAt } from './mp4-boxes.ts';
import { handlerOf, mp4Codec } from './mp4-codec.ts';
import { type Track, tableRuns } from './mp4-samples.ts';

export interface Movie {
  tracks: Track[];
  hasVideo: boolean;
}

const EDIT_BYTES = 12;
const WIDE_EDIT_BYTES = 20;
/** Of an edit that shows nothing. */
const EMPTY = 0xffff_ffff;

/** Every track except those of pictures: decoders recognise sound by how samples are coded, whatever the track is called. */
export function movieOf(moov: Uint8Array, size: number): Movie {
  const tracks: Track[] = [];
  let others = 0;
  let hasVideo = false;
  const movieTimescale = timescaleOf(inside(moov, 'mvhd'));
  for (const { type, body } of boxesOf(moov)) {
    if (type !== 'trak') continue;
    const media = inside(body, 'mdia');
    const table = inside(media, 'minf', 'stbl');
    const codec = mp4Codec(inside(table, 'stsd'));
    const handler = handlerOf(media);
    hasVideo ||= handler === 'vide';
    const isPicture = handler === 'vide' && codec?.kind === 'pcm';
    if (codec === undefined || isPicture || (codec.kind === 'unknown' && handler !== 'soun')) {
      others++;
      continue;
    }
    const trackHeader = inside(body, 'tkhd');
    const id = wordAt(trackHeader, trackHeader?.[0] === 1 ? 20 : 12);
    const timescale = timescaleOf(inside(media, 'mdhd'));
    tracks.push({
      id,
      codec,
      timescale,
      ticks: ticksOfTable(inside(table, 'stts')),
      runs: tableRuns(table, size),
      defaults: defaultsOf(inside(moov, 'mvex'), id),
      edits: editsOf(inside(body, 'edts', 'elst'), movieTimescale, timescale),
      isAlone: false,
    });
  }
  if (others === 0 && tracks.length === 1) tracks[0]!.isAlone = true;
  return { tracks, hasVideo };
}

const timescaleOf = (header: Uint8Array | undefined): number => wordAt(header, header?.[0] === 1 ? 20 : 12);

function ticksOfTable(stts: Uint8Array | undefined): number {
  let ticks = 0;
  for (let at = 8; stts !== undefined && at + 8 <= stts.length; at += 8)
    ticks += wordAt(stts, at) * wordAt(stts, at + 4);
  return ticks;
}

function defaultsOf(mvex: Uint8Array | undefined, id: number): Track['defaults'] {
  for (const { type, body } of boxesOf(mvex)) {
    if (type === 'trex' && wordAt(body, 4) === id) return { ticks: wordAt(body, 12), bytes: wordAt(body, 16) };
  }
  return { ticks: 0, bytes: 0 };
}

/** What an edit list says is shown of a track. */
function editsOf(elst: Uint8Array | undefined, movieTimescale: number, timescale: number): Track['edits'] {
  let shownSeconds = 0;
  let skippedSeconds = 0;
  if (elst === undefined || movieTimescale === 0 || timescale === 0) return { shownSeconds, skippedSeconds };
  const isWide = elst[0] === 1;
  const step = isWide ? WIDE_EDIT_BYTES : EDIT_BYTES;
  const low = isWide ? 4 : 0;
  for (let at = 8; at + step <= elst.length; at += step) {
    const begin = wordAt(elst, at + (isWide ? 12 : 4));
    if (begin === EMPTY) continue;
    shownSeconds += wordAt(elst, at + low) / movieTimescale;
    skippedSeconds += begin / timescale;
  }
  return { shownSeconds, skippedSeconds };
}
