// For how long a packet of Opus sounds, by its first two bytes. RFC 6716, section 3.1.

/** No decoder takes a longer one. */
const SECONDS_MAX = 0.12;
/** In ms by configuration: of SILK four sizes each, of both codecs two, of CELT four. */
const SILK_MS = [10, 20, 40, 60];
const HYBRID_MS = [10, 20];
const CELT_MS = [2.5, 5, 10, 20];

/** What says how long a packet is. */
export const OPUS_HEAD_BYTES = 2;

/** Seconds. */
export function opusSeconds(packet: Uint8Array): number {
  const first = packet[0];
  if (first === undefined) return 0;
  const frames = [1, 2, 2, (packet[1] ?? 0) & 63][first & 3]!;
  return Math.min((frames * opusFrameMs(first)) / 1_000, SECONDS_MAX);
}

/** Of each frame of a packet, by its first byte. */
export function opusFrameMs(first: number): number {
  const configuration = first >> 3;
  if (configuration < 12) return SILK_MS[configuration & 3]!;
  return configuration < 16 ? HYBRID_MS[configuration & 1]! : CELT_MS[configuration & 3]!;
}
