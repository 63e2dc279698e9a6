// Files whose coding nobody here can count: what they say of their length is reported as no more than that.
import { describe, expect, it } from 'vitest';
import { measured } from '../../fakes/audio/measured.ts';
import { honestFiles } from './honest/made.ts';

const honest = new Map(honestFiles().map((file) => [file.name, file]));

/** An honest file that names another coding. */
function recoded(name: string, coding: string, other: string): Buffer {
  const text = Buffer.from(honest.get(name)!.bytes).toString('latin1');
  return Buffer.from(text.replaceAll(coding, other), 'latin1');
}

describe('the length of a file in an unknown coding', () => {
  it.each<[string, string, string, string]>([
    ['WAV', 's16le.wav', 'fmt \x10\0\0\0\x01\0', 'fmt \x10\0\0\0\0\x20'],
    ['WebM', 'opus-20.webm', 'A_OPUS', 'A_WHAT'],
    ['MP4', 'aac-16000-1-64.m4a', 'mp4a', 'what'],
    ['WMA', 'wma2-44100.wma', '\x61\x01', '\xff\x00'],
    ['CAF', 'alac.caf', 'alac', 'flac'],
  ])('%s', (_, name, coding, other) => {
    const { seconds, spareSeconds } = honest.get(name)!;
    const audio = measured(recoded(name, coding, other));
    expect(audio).toMatchObject({ isStated: true });
    expect(Math.abs(audio!.seconds - seconds)).toBeLessThanOrEqual(seconds * 0.01 + 4 * spareSeconds);
  });

  it('prefers the number of samples of a WAV file to its byte rate', () => {
    const fact = Buffer.from('fact\x04\0\0\0\0\0\0\0', 'latin1');
    fact.writeUInt32LE(48_000, 8);
    const format = Buffer.alloc(24);
    format.write('fmt ');
    format.writeUInt32LE(16, 4);
    format.writeUInt16LE(0x2000, 8);
    format.writeUInt16LE(1, 10);
    format.writeUInt32LE(16_000, 12);
    format.writeUInt32LE(1_000, 16);
    const wav = Buffer.concat([
      Buffer.from('RIFF\xff\xff\xff\xffWAVE', 'latin1'),
      format,
      fact,
      Buffer.from('data\xff\xff\xff\xff', 'latin1'),
      Buffer.alloc(500),
    ]);
    expect(measured(wav)).toMatchObject({ seconds: 3, isStated: true });
  });
});
