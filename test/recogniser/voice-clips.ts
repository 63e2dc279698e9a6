// Sounds for the voice detector: people's and synthetic voices in many conditions, and what is not a voice.
import { readFileSync } from 'node:fs';
import { decode } from '../../src/audio/pcm.ts';
import { PcmConverter } from '../../src/audio/resampler.ts';
import { seeded } from '../fakes/random.ts';
import { audioOf, SAMPLES } from './listening.ts';

const RATE = 16_000;
const VOICES = new URL('../fixtures/audio/voices/', import.meta.url);
/** Between two clips of a file. */
const GAP_SAMPLES = RATE / 2;

export interface Clip {
  name: string;
  sampleRate: number;
  samples: Int16Array;
}

/** The clips of a µ-law file, which digital silence separates. */
function clipsOf(file: string): Int16Array[] {
  const bytes = readFileSync(new URL(file, VOICES));
  const from = bytes.indexOf('data') + 8;
  const samples = new Int16Array(bytes.readUInt32LE(from - 4));
  decode('mulaw', bytes, from, samples.length, { samples, bytes: new Uint8Array(samples.buffer) }, 0);
  const clips: Int16Array[] = [];
  let [start, last] = [-1, -1];
  for (const [at, sample] of samples.entries()) {
    if (Math.abs(sample) < 16) continue;
    if (start < 0) start = at;
    else if (at - last > GAP_SAMPLES) {
      clips.push(samples.slice(start, last + 1));
      start = at;
    }
    last = at;
  }
  if (start >= 0) clips.push(samples.slice(start, last + 1));
  return clips;
}

/** Speech that no gate may mark. */
export function honestClips(): Clip[] {
  const plain: Clip[] = [
    ...clipsOf('short-words.wav').map((samples, at) => ({ name: `short word ${at}`, sampleRate: RATE, samples })),
    ...clipsOf('whispers.wav').map((samples, at) => ({ name: `whisper ${at}`, sampleRate: RATE, samples })),
    ...SAMPLES.filter(({ text }) => text !== '').map((sample) => ({
      name: sample.file,
      sampleRate: RATE,
      samples: new Int16Array(audioOf(sample).buffer),
    })),
  ];
  const random = seeded(3);
  return plain.flatMap(({ name, samples }) => {
    const scaled = (gain: number) => samples.map((sample) => Math.round(sample * gain));
    const converter = new PcmConverter(RATE, 8_000);
    const narrow = Int16Array.from([...converter.push(samples), ...converter.end()]);
    return [
      { name, sampleRate: RATE, samples },
      { name: `${name}, quiet`, sampleRate: RATE, samples: scaled(0.03) },
      { name: `${name}, by telephone`, sampleRate: 8_000, samples: narrow },
      {
        name: `${name}, with noise behind it`,
        sampleRate: RATE,
        samples: scaled(0.8).map((sample) => sample + random.integer(-400, 400)),
      },
    ];
  });
}

/** Sounds in which nobody speaks, six seconds each. */
export function voicelessClips(): Clip[] {
  const random = seeded(41);
  const noise = () => random.next() * 2 - 1;
  const tone = (hz: number, t: number) => Math.sin(2 * Math.PI * hz * t);
  const sum = (values: number[]) => values.reduce((all, value) => all + value, 0);
  let brown = 0;
  let breath = 0;
  const sounds: Record<string, (t: number) => number> = {
    silence: () => 0,
    'quiet noise': () => 0.003 * noise(),
    noise: () => 0.05 * noise(),
    'loud noise': () => 0.3 * noise(),
    'brown noise': () => {
      brown = 0.98 * brown + 0.02 * noise();
      return 3 * brown;
    },
    'the hum of a mains': (t) => sum([1, 2, 3].map((n) => (0.3 / n ** 2) * tone(50 * n, t))),
    'a chord': (t) => 0.1 * sum([220, 277.18, 329.63, 440].map((hz) => tone(hz, t))),
    'an organ': (t) => {
      const root = [131, 147, 165, 175, 196, 131][Math.floor(t) % 6] as number;
      return sum([1, 1.25, 1.5, 2].flatMap((at) => [1, 2, 3].map((n) => (0.06 / n) * tone(root * at * n, t))));
    },
    'a piano': (t) => {
      const [at, key] = [t % 0.5, Math.floor(t / 0.5) % 6];
      const hz = [262, 330, 392, 523, 440, 349][key] as number;
      return Math.exp(-5 * at) * sum([1, 2, 3, 4].map((n) => (0.2 / n) * tone(hz * n, at)));
    },
    'a drum': (t) => {
      const at = t % 0.5;
      const hat = at > 0.25 ? 0.2 * noise() * Math.exp(-40 * (at - 0.25)) : 0;
      return 0.6 * tone(60 + 80 * Math.exp(-20 * at), at) * Math.exp(-12 * at) + hat;
    },
    'a dial tone': (t) => 0.2 * (tone(350, t) + tone(440, t)),
    'a keyboard': (t) => {
      const at = t % 0.17;
      return 0.4 * noise() * Math.exp(-120 * at) + 0.15 * noise() * Math.exp(-200 * Math.abs(at - 0.08));
    },
    clicks: (t) => (t % 0.25 < 0.001 ? 0.8 * noise() : 0),
    breath: (t) => {
      breath = 0.6 * breath + 0.4 * noise();
      return 0.08 * breath * Math.max(0, tone(1 / 3, t)) ** 2;
    },
  };
  return Object.entries(sounds).map(([name, at]) => ({
    name,
    sampleRate: RATE,
    samples: Int16Array.from({ length: 6 * RATE }, (_, n) =>
      Math.max(-32_768, Math.min(32_767, Math.round(32_767 * at(n / RATE)))),
    ),
  }));
}
