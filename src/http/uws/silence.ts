// The silence of a client that the library ends by itself. It hears the bytes of a message as they come, which nobody else does.
import type { DoorOptions } from '../door.ts';

/** The library counts silence in steps of this, and none shorter than two of them. */
const SILENCE_SECONDS_STEP = 4;
/**
 * The longest silence that the library can watch for. Keep-alive is the host's, and much shorter; this one frees what is
 * left of a connection whose client never answers the close.
 */
const SILENCE_SECONDS_MAX = 960;
/** The silence that the library is to end, in seconds; undefined where it cannot watch for one so short, and the host has to. */
export function watchedSeconds({ silenceMs = 0 }: Pick<DoorOptions, 'silenceMs'>): number | undefined {
  const seconds = Math.ceil(silenceMs / 1000 / SILENCE_SECONDS_STEP) * SILENCE_SECONDS_STEP;
  return silenceMs < 2 * SILENCE_SECONDS_STEP * 1000 || seconds > SILENCE_SECONDS_MAX ? undefined : seconds;
}

/** What the library is set to. */
export const silenceSeconds = (options: Pick<DoorOptions, 'silenceMs'>): number =>
  watchedSeconds(options) ?? SILENCE_SECONDS_MAX;
