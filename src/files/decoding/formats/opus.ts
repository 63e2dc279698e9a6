// Packets of Opus, out of whatever container. What the encoder needs before the sound begins (the pre-skip) is left out.
import { OpusDecoder } from 'opus-decoder';
import type { OpusHead } from '../../../audio/codecs/opus.ts';
import { requireChannels, type Sound } from './sound.ts';

/** @throws Undecodable */
export async function opusPackets(head: OpusHead): Promise<(packet: Uint8Array) => Sound> {
  requireChannels(head.channels);
  const { channels, preSkip } = head;
  const decoder = new OpusDecoder(channels > 2 ? head : { channels, preSkip });
  await decoder.ready;
  return (packet) => decoder.decodeFrame(packet);
}
