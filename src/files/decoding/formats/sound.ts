// What all decoders of files have in common: bytes come in as they arrive, sound goes out piece by piece.
import { OpusDecoder } from 'opus-decoder';
import type { OpusHead } from '../../../audio/codecs/opus.ts';

/** Sound as the decoders give it: a channel each, from −1 to 1. */
export interface Sound {
  channelData: readonly Float32Array[];
  samplesDecoded: number;
  sampleRate: number;
}

/** @param onDamage hears that sound is missing which the file once had */
export type Decode = (bytes: AsyncIterable<Uint8Array>, onDamage: () => void) => AsyncGenerator<Sound>;

/** It is known why there is no sound to be had; the message continues behind "cannot be decoded: ". */
export class Undecodable extends Error {
  override readonly name = 'Undecodable';
}

const CHANNELS_MAX = 8;

/** @throws Undecodable */
export function requireChannels(channels: number): void {
  if (channels < 1 || channels > CHANNELS_MAX) {
    throw new Undecodable(`it has ${channels} channels, and 1 to ${CHANNELS_MAX} are read`);
  }
}

/**
 * Packets of Opus, out of any container. What the encoder needs before the sound begins (the pre-skip) is left out.
 *
 * @throws Undecodable
 */
export async function opusPackets(head: OpusHead): Promise<(packet: Uint8Array) => Sound> {
  requireChannels(head.channels);
  const { channels, preSkip } = head;
  const decoder = new OpusDecoder(channels > 2 ? head : { channels, preSkip });
  await decoder.ready;
  return (packet) => decoder.decodeFrame(packet);
}
