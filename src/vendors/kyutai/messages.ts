// Messages of a moshi-server: each is one MessagePack map with a `type`.
import { decode, encode } from '@msgpack/msgpack';
import { BYTES_PER_SAMPLE } from '../../api/audio-formats.ts';
import { type JsonObject, objectIn } from '../kit/json.ts';

const FULL_SCALE = 32_768;
/** A map of two, up to the list of samples. */
const HEAD = encode({ type: 'Audio', pcm: 0 }).slice(0, -1);
const ARRAY_32 = 0xdd;
const FLOAT_32 = 0xca;

/** Linear16 as the floats that it wants, written by hand: this runs for every sample. Zeros are whole numbers, so that silence is short. */
export function audioMessage(linear16: Uint8Array): Uint8Array {
  const samples = Math.floor(linear16.byteLength / BYTES_PER_SAMPLE);
  const from = new DataView(linear16.buffer, linear16.byteOffset, linear16.byteLength);
  const message = new Uint8Array(HEAD.length + 5 * (1 + samples));
  const view = new DataView(message.buffer);
  message.set(HEAD);
  message[HEAD.length] = ARRAY_32;
  view.setUint32(HEAD.length + 1, samples);
  let end = HEAD.length + 5;
  for (let at = 0; at < samples; at++) {
    const sample = from.getInt16(at * BYTES_PER_SAMPLE, true);
    if (sample === 0) {
      end++;
      continue;
    }
    message[end] = FLOAT_32;
    view.setFloat32(end + 1, sample / FULL_SCALE);
    end += 5;
  }
  return message.subarray(0, end);
}

/** It comes back when all audio before it is told of. */
export const markerMessage = (id: number): Uint8Array => encode({ type: 'Marker', id });

/** The members of a message; none of what is no map. */
export function membersIn(bytes: Uint8Array): JsonObject {
  try {
    return objectIn(decode(bytes));
  } catch {
    return {};
  }
}
