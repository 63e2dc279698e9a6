// MP3, and layers I and II. Encoders put silence in front, and most say how much; that is left out, so that times are right.
import { MPEGDecoder } from 'mpg123-decoder';
import type { Sound } from './sound.ts';

/** Some seconds of sound at the lowest bit rate: so much comes out at once. */
const BLOCK_BYTES = 4_096;
/** Where the first frame does not say how much silence there is: LAME's, as of most others, and the decoder's own. */
const SILENT_SAMPLES = 576 + 529;

export async function* mpegSound(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Sound> {
  const decoder = new MPEGDecoder();
  await decoder.ready;
  let saysSilence = false;
  let left = SILENT_SAMPLES;
  for await (const block of bytes) {
    for (let at = 0; at < block.length; at += BLOCK_BYTES) {
      const piece = block.subarray(at, at + BLOCK_BYTES);
      if (left === SILENT_SAMPLES) saysSilence ||= hasInfo(piece);
      const sound = decoder.decode(piece);
      const skipped = saysSilence ? 0 : Math.min(left, sound.samplesDecoded);
      left -= Math.min(left, sound.samplesDecoded);
      yield from(sound, skipped);
    }
  }
}

/** Whether the first frame tells of the others. It is then LAME's as a rule, and says how much silence it has put in front. */
function hasInfo(piece: Uint8Array): boolean {
  const text = Buffer.from(piece.buffer, piece.byteOffset, piece.length);
  return text.includes('Xing') || text.includes('Info');
}

const from = ({ channelData, samplesDecoded, sampleRate }: Sound, skipped: number): Sound => ({
  channelData: channelData.map((samples) => samples.subarray(skipped)),
  samplesDecoded: samplesDecoded - skipped,
  sampleRate,
});
