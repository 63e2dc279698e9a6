// Messages that are held whole until their last byte has come, and so have to wait for a place.

/** Messages up to this size are gathered without asking. */
export const LARGE_BYTES = 1024 * 1024;

/** The largest message of a session. What is coded comes in small ones: a long one could be hours of sound. */
export function messageBytesMaxOf(
  pace: { messageBytesMax: number },
  isCoded: boolean,
  socket?: { messageBytesMax?: number | undefined },
): number {
  const bytesMax = Math.min(pace.messageBytesMax, socket?.messageBytesMax ?? Number.POSITIVE_INFINITY);
  return isCoded ? Math.min(LARGE_BYTES, bytesMax) : bytesMax;
}
