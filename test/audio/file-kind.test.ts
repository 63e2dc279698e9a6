// What a file is, by its first bytes.
import { describe, expect, it } from 'vitest';
import { fileKindOf } from '../../src/audio/containers/detection.ts';
import { honestFiles } from './length/honest/made.ts';

const HEAD_BYTES = 4096;
const adts = honestFiles().find(({ name }) => name.endsWith('.aac'))!.bytes;

/** Frames in packets of 188 bytes, as broadcasts and cameras have them. */
function transportStream(frames: Uint8Array, timeBytes: number): Buffer {
  const packets: Uint8Array[] = [];
  for (let at = 0; at < frames.length; at += 184)
    packets.push(Buffer.alloc(timeBytes), Buffer.from([0x47, 0x01, 0x00, 0x10]), frames.subarray(at, at + 184));
  return Buffer.concat(packets).subarray(0, HEAD_BYTES);
}

describe('an MPEG transport stream', () => {
  it.each([
    ['of a broadcast', 0],
    ['of a camera, with a time in front of each packet', 4],
  ])('%s is not taken for the AAC or MP3 inside it', (_, timeBytes) => {
    for (const frames of [adts, honestFiles().find(({ name }) => name === 'lame-8000-cbr.mp3')!.bytes])
      expect(fileKindOf(transportStream(frames, timeBytes))?.title).toBe('MPEG-TS');
  });
});

it('takes no encoder’s file for an MPEG transport stream', () => {
  const taken = honestFiles().filter(({ bytes }) => fileKindOf(bytes.subarray(0, HEAD_BYTES))?.title === 'MPEG-TS');
  expect(taken.map(({ name }) => name)).toEqual([]);
});
