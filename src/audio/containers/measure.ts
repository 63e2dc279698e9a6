// How much audio a file holds at most, whatever it says of itself: by counting what a decoder would decode. Which container it
// is, its first bytes say; tags may stand in front of them.

import type { MeasuredAudio, Scan } from '../scan.ts';
import { amrAudio } from './amr.ts';
import { asfAudio } from './asf.ts';
import { sniffContainer, tagBytes } from './detection.ts';
import { flacAudio } from './flac.ts';
import { mp4Audio } from './mp4-length.ts';
import { mpegAudio } from './mpeg.ts';
import { oggAudio } from './ogg.ts';
import { sampleFileAudio } from './sample-file-length.ts';
import { wavAudio } from './wav-length.ts';
import { webmAudio } from './webm.ts';

/** Two frames of MP3 fit. */
const SNIFF_BYTES = 4_096;
const ID3_HEAD_BYTES = 10;
const TAGS_MAX = 1_000;

/** Undefined when it cannot be measured. */
export function* audioIn(size: number): Scan<MeasuredAudio | undefined> {
  const from = yield* behindTags(size);
  const name = sniffContainer(yield { at: from, length: SNIFF_BYTES });
  switch (name) {
    case 'Ogg':
      return yield* oggAudio(from, size);
    case 'FLAC':
      return yield* flacAudio(from, size);
    case 'MP4':
      return yield* mp4Audio(from, size);
    case 'WebM or Matroska':
      return yield* webmAudio(from, size);
    case 'WAV':
    case 'WAV (64-bit)':
      return yield* wavAudio(from, size);
    case 'AMR':
      return yield* amrAudio(from, size);
    case 'WMA':
      return yield* asfAudio(from, size);
    case 'AIFF':
    case 'AU':
    case 'CAF':
    case 'Wave64':
    case 'WAV (big-endian)':
      return yield* sampleFileAudio(name, from, size);
    default:
      return yield* mpegAudio(from, size);
  }
}

/** Decoders skip whole tags of ID3v2 in front: one that says that it is longer than the file is none. */
function* behindTags(size: number): Scan<number> {
  let at = 0;
  for (let tags = 0; tags < TAGS_MAX; tags++) {
    const bytes = tagBytes(yield { at, length: ID3_HEAD_BYTES });
    if (bytes === 0 || at + bytes >= size) break;
    at += bytes;
  }
  return at;
}
