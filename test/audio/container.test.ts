// Containers are known by their first bytes, and raw audio is never taken for one.
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { ContainerSniffer, sniffContainer } from '../../src/audio/containers/detection.ts';
import { numberedAudio } from '../fakes/audio/numbered-audio.ts';
import { sampleAudio, samples } from '../fakes/processes/live-gateway.ts';
import { seeded } from '../fakes/random.ts';

const ascii = (text: string) => Uint8Array.from(text, (letter) => letter.charCodeAt(0));
const file = (beginning: string) => ascii(beginning.padEnd(64, '\x00'));

/** Two MPEG-1 layer III frames of 128 kbit/s at 44.1 kHz: 417 bytes each. */
function mp3(): Uint8Array {
  const bytes = new Uint8Array(834);
  for (const at of [0, 417]) bytes.set([0xff, 0xfb, 0x90, 0x64], at);
  return bytes;
}

const CONTAINERS: [name: string, bytes: Uint8Array][] = [
  ['WAV', file('RIFF\x24\x00\x00\x00WAVEfmt ')],
  ['WAV (big-endian)', file('RIFX\x00\x00\x00\x24WAVEfmt ')],
  ['WAV (64-bit)', file('RF64\xff\xff\xff\xffWAVEds64')],
  ['Ogg', file('OggS\x00\x02')],
  ['FLAC', file('fLaC\x00\x00\x00\x22')],
  ['WebM or Matroska', file('\x1a\x45\xdf\xa3\x9f\x42\x86')],
  ['MP4', file('\x00\x00\x00\x20ftypM4A ')],
  ['MP4', file('\x00\x00\x00\x08wide\x00\x00\x10\x00mdat')],
  ['Wave64', file('riff\x2e\x91\xcf\x11\xa5\xd6')],
  ['AIFF', file('FORM\x00\x00\x10\x00AIFFCOMM')],
  ['AIFF', file('FORM\x00\x00\x10\x00AIFCFVER')],
  ['AU', file('.snd\x00\x00\x00\x18')],
  ['CAF', file('caff\x00\x01\x00\x00desc')],
  ['AMR', file('#!AMR\n')],
  ['AMR', file('#!AMR-WB\n')],
  ['WMA', file('\x30\x26\xb2\x75\x8e\x66\xcf\x11\xa6\xd9')],
  ['MP3', file('ID3\x04\x00\x00\x00\x00\x01\x76')],
  ['MP3', mp3()],
];

describe('the beginning of a stream', () => {
  test.each(CONTAINERS)('%s is named, from one piece and byte by byte', (name, bytes) => {
    expect(sniffContainer(bytes)).toBe(name);
    const sniffer = new ContainerSniffer();
    const answers = [...bytes].map((byte) => sniffer.look(Uint8Array.of(byte)));
    expect(answers.filter((answer) => answer !== undefined)).toEqual([name]);
    expect(sniffer.settled).toBe(true);
  });

  const pcm = (...values: number[]) => new Uint8Array(Int16Array.from(values).buffer);
  const PCM: [what: string, bytes: Uint8Array][] = [
    ['silence', new Uint8Array(8000)],
    ['a ramp', numberedAudio(0, 4000)],
    ['samples near -1 that look like an MP3 frame sync', pcm(...new Array(4000).fill(-1025))],
    ['one frame header with nothing where the next should be', mp3().fill(0, 4)],
    ['letters ID3 with a size no tag has', file('ID3\x04\x00\x00\xff\xff\xff\xff')],
    ['nothing', new Uint8Array(0)],
  ];

  test.each(PCM)('%s is taken for raw audio', (_, bytes) => {
    expect(sniffContainer(bytes)).toBeUndefined();
    const sniffer = new ContainerSniffer();
    for (let at = 0; at < bytes.length; at += 999) expect(sniffer.look(bytes.subarray(at, at + 999))).toBeUndefined();
  });

  test('ordinary audio is settled with its first 4 KiB', () => {
    const sniffer = new ContainerSniffer();
    sniffer.look(numberedAudio(0, 2_047));
    expect(sniffer.settled).toBe(false);
    sniffer.look(numberedAudio(2_047, 2_049));
    expect(sniffer.settled).toBe(true);
  });

  const FRAMES = readFileSync(new URL('../fixtures/audio/formats/cbr.mp3', import.meta.url));
  /** Frames of 300 bytes with an ADTS header each: AAC at 44.1 kHz, two channels. */
  const adts = Buffer.alloc(9_000, 'aac');
  for (let at = 0; at < adts.length; at += 300) adts.set([0xff, 0xf1, 0x50, 0x80, 300 >> 3, (300 & 7) << 5, 0xfc], at);

  test.each<[string, string, Buffer]>([
    ['MP3', 'without a tag', FRAMES],
    ['MP3', 'behind bytes of nothing', Buffer.concat([Buffer.alloc(100), FRAMES])],
    ...[1, 77, 431].map((at): [string, string, Buffer] => ['MP3', `cut at ${at}`, FRAMES.subarray(at)]),
    ['AAC', 'in ADTS', adts],
    ['AAC', 'in ADTS, cut', adts.subarray(123)],
  ])('%s %s is known in chunks of any size', (name, _, bytes) => {
    for (const size of [1, 20, 640, 417, 10_000]) {
      const sniffer = new ContainerSniffer();
      const answers = new Set<string | undefined>();
      for (let at = 0; at < bytes.length; at += size) answers.add(sniffer.look(bytes.subarray(at, at + size)));
      expect([...answers].filter((answer) => answer !== undefined)).toEqual([name]);
    }
  });

  test('speech and noise are never taken for frames', () => {
    const { next } = seeded(7);
    const noise = (loud: number) => Int16Array.from({ length: 2_048 }, () => (next() - 0.5) * loud);
    const sounds = [
      ...samples().map(({ file: name }) => sampleAudio(name).pcm),
      ...Array.from({ length: 400 }, (_, at) => new Uint8Array(noise(2 ** (2 + (at % 15))).buffer)),
    ];
    for (const sound of sounds) {
      for (let at = 0; at + 4_096 <= sound.length; at += 40_961) {
        expect(new ContainerSniffer().look(sound.subarray(at))).toBeUndefined();
      }
    }
  });
});
