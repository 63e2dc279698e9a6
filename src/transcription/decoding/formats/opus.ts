// Packets of Opus, out of whatever container. What the encoder needs before the sound begins (the pre-skip) is left out.
import { OpusDecoder } from 'opus-decoder';
import { requireChannels, type Sound } from './sound.ts';

/** What the head of a stream says. The last three are for more than two channels. */
export interface OpusHead {
  channels: number;
  preSkip: number;
  streamCount?: number;
  coupledStreamCount?: number;
  channelMappingTable?: number[];
}

/** @throws Undecodable */
export async function opusPackets(head: OpusHead): Promise<(packet: Uint8Array) => Sound> {
  requireChannels(head.channels);
  const { channels, preSkip } = head;
  const decoder = new OpusDecoder(channels > 2 ? head : { channels, preSkip });
  await decoder.ready;
  return (packet) => decoder.decodeFrame(packet);
}

const FAMILY_AT = 18;

/** Of RFC 7845, section 5.1; undefined where it is cut off. */
export function opusHead(bytes: Uint8Array): OpusHead | undefined {
  if (bytes.length <= FAMILY_AT) return undefined;
  const head = { channels: bytes[9]!, preSkip: bytes[10]! + bytes[11]! * 256 };
  if (bytes[FAMILY_AT] === 0) return head;
  const [streamCount = 0, coupledStreamCount = 0, ...table] = bytes.subarray(FAMILY_AT + 1);
  return { ...head, streamCount, coupledStreamCount, channelMappingTable: table.slice(0, head.channels) };
}
