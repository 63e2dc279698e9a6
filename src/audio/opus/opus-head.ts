// The head of an Opus stream in a container. RFC 7845, section 5.1.

/** Opus counts what it skips at this rate, whatever it is decoded to. */
export const OPUS_HERTZ = 48_000;

/** What the head of a stream says. The last three are for more than two channels. */
export interface OpusHead {
  channels: number;
  /** Samples at 48 kHz that the encoder needs before the sound begins. */
  preSkip: number;
  streamCount?: number;
  coupledStreamCount?: number;
  channelMappingTable?: number[];
}

const FAMILY_AT = 18;

/** Undefined where it is cut off. */
export function opusHead(bytes: Uint8Array): OpusHead | undefined {
  if (bytes.length <= FAMILY_AT) return undefined;
  const head = { channels: bytes[9]!, preSkip: bytes[10]! + bytes[11]! * 256 };
  if (bytes[FAMILY_AT] === 0) return head;
  const [streamCount = 0, coupledStreamCount = 0, ...table] = bytes.subarray(FAMILY_AT + 1);
  return { ...head, streamCount, coupledStreamCount, channelMappingTable: table.slice(0, head.channels) };
}
