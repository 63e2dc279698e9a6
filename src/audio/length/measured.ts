// What is known of how long an uploaded file is, and what its bytes can hold at most where nobody can tell. A figure that a
// liar gets under is worth nothing here: money is held by it.

/** What counting a file's packets, frames or samples gave. */
export interface MeasuredAudio {
  /** Seconds that the audio holds at most: the sum over chained or concatenated parts. */
  secondsMax: number;
  /** 1 when the format does not say. */
  channels: number;
}

/**
 * Bytes that a second takes at least, by the names of `sniffContainer`: MP3 at 8 kbit/s; packets of 120 ms of silence, as Opus
 * makes them, with what their container needs for each.
 */
const BYTES_PER_SECOND_MIN: Readonly<Record<string, number>> = { MP3: 1_000, Ogg: 25, MP4: 16, 'WebM or Matroska': 16 };
/** Of a codec nobody knows here, and of FLAC, whose silence takes nearly nothing: 65,535 samples in 14 bytes at 16 kHz. */
const BYTES_PER_SECOND_OTHERWISE = 3;

/** The most seconds that a file of so many bytes can hold, whatever is in it. */
export const secondsAtMost = (container: string | undefined, sizeBytes: number): number =>
  sizeBytes / (BYTES_PER_SECOND_MIN[container ?? ''] ?? BYTES_PER_SECOND_OTHERWISE);
