// `npm run bench -- voice`: how much speech the energy meter and the voice detector find, how much of other sounds they take for
// speech, and what comes of both: which sounds make a silent leg look stalled, open a turn, or are skipped.
import { fileURLToPath } from 'node:url';
import { PcmConverter } from '../src/audio/resampler.ts';
import { SpeechMeter } from '../src/audio/voice/energy.ts';
import { VoiceActivity, WindowPower } from '../src/audio/voice/voice-activity.ts';
import { builtInModel } from '../src/recogniser/dictation/model.ts';
import { loadSherpa } from '../src/recogniser/dictation/sherpa.ts';
import { VoiceDetectors } from '../src/recogniser/dictation/voice-detector.ts';
import { VOICE_SETTINGS, VoiceStream } from '../src/recogniser/voice/stream.ts';
import { speechModelsFolder } from '../src/runtime/telemetry/worker-file.ts';
import { type Clip, honestClips, voicelessClips } from '../test/recogniser/voice-clips.ts';

const RATE = 16_000;
/** Silence on both sides of a clip. */
const PAUSE = new Int16Array(0.6 * RATE);
/** Less is not found. */
const FOUND_SECONDS_MIN = 0.1;
/** Of a pause that is skipped, so much is sent at each end; see `audio/lane.ts`. */
const KEPT_SAMPLES = 0.15 * RATE;
const STEP_SAMPLES = RATE / 100;

/** Seconds that each takes for speech. */
interface Heard {
  turns: number;
  speech: number;
  audible: number;
  detector: number;
  /** Of what the detector takes for a voice, what would be skipped as silence. */
  skipped: number;
}

const { voiceModel } = builtInModel(fileURLToPath(speechModelsFolder()));
const detectors = new VoiceDetectors(loadSherpa(), voiceModel, VOICE_SETTINGS);
let detectorMs = 0;
let detectorSeconds = 0;

function voicesIn(audio: Int16Array): [number, number][] {
  const detector = detectors.take();
  const voices: [number, number][] = [];
  const stream = new VoiceStream(detector, (message) => voices.push(...message.ranges));
  const before = performance.now();
  stream.audio(new Uint8Array(audio.buffer));
  stream.report();
  detectorMs += performance.now() - before;
  detectorSeconds += audio.length / RATE;
  detectors.giveBack(detector);
  return voices;
}

function heardIn({ samples, sampleRate }: Clip): Heard {
  const converter = new PcmConverter(sampleRate, RATE);
  const audio = Int16Array.from([...PAUSE, ...converter.push(samples), ...converter.end(), ...PAUSE]);
  const meter = new SpeechMeter(RATE);
  meter.take(audio, 0, audio.length);
  const activity = new VoiceActivity();
  let loudSamples = 0;
  const power = new WindowPower(RATE, (each) => {
    if (activity.hears(each)) loudSamples += power.windowSamples;
  });
  power.take(audio, 0, audio.length);
  const voices = voicesIn(audio);
  let skippedSamples = 0;
  for (const [start, end] of voices) {
    for (let at = Math.ceil(start * RATE); at < end * RATE; at += STEP_SAMPLES) {
      const since = meter.audible.quietSince(at);
      const isSkipped =
        since !== undefined && at - since >= KEPT_SAMPLES && meter.audible.startAfter(at) - at >= KEPT_SAMPLES;
      if (isSkipped) skippedSamples += STEP_SAMPLES;
    }
  }
  return {
    turns: loudSamples / RATE,
    speech: meter.speech.within(0, audio.length) / RATE,
    audible: meter.audible.within(0, audio.length) / RATE,
    detector: voices.reduce((sum, [start, end]) => sum + end - start, 0),
    skipped: skippedSamples / RATE,
  };
}

const WHAT = ['turns', 'speech', 'audible', 'detector'] as const;

function printRow(name: string, clips: readonly Clip[], isSpeech: boolean): void {
  const heard = clips.map(heardIn);
  const seconds = clips.reduce((sum, { samples, sampleRate }) => sum + samples.length / sampleRate, 0);
  const total = (what: keyof Heard) => heard.reduce((sum, each) => sum + each[what], 0);
  const cells = WHAT.map((what) => {
    if (!isSpeech) return `${Math.round((100 * total(what)) / seconds)} %`;
    return `${heard.filter((each) => each[what] >= FOUND_SECONDS_MIN).length} of ${clips.length}`;
  });
  const isFound = ({ speech, turns, detector }: Heard, energy: 'speech' | 'turns') =>
    ({ speech, turns })[energy] >= FOUND_SECONDS_MIN && detector >= FOUND_SECONDS_MIN;
  const both = (['turns', 'speech'] as const).map((energy) => heard.filter((each) => isFound(each, energy)).length);
  console.log(`| ${name} | ${[...cells, ...both, `${total('skipped').toFixed(2)} s`].join(' | ')} |`);
}

/** Speech with another sound under it, which is quieter by so many dB. */
function mixed(clips: readonly Clip[], under: Clip, quieterDb: number): Clip[] {
  const rmsOf = (samples: Int16Array) =>
    Math.sqrt(samples.reduce((sum, sample) => sum + sample * sample, 0) / samples.length);
  return clips.map(({ name, sampleRate, samples }) => {
    const gain = (rmsOf(samples) / rmsOf(under.samples)) * 10 ** (-quieterDb / 20);
    const mix = samples.map((sample, at) => {
      const other = (under.samples[at % under.samples.length] as number) * gain;
      return Math.max(-32_768, Math.min(32_767, Math.round((sample + other) / 2)));
    });
    return { name, sampleRate, samples: mix };
  });
}

const CONDITIONS = ['quiet', 'by telephone', 'with noise behind it'];
const speech = honestClips();
const voiceless = voicelessClips();
const conditionOf = ({ name }: Clip) => CONDITIONS.find((each) => name.endsWith(`, ${each}`)) ?? 'plain';

console.log('Clips of speech that were found, and the share of other sounds that was taken for speech.');
console.log('`turns` cuts utterances, `speech` finds stalls, `audible` decides which silence is skipped.\n');
console.log(
  '| sound | energy: turns | energy: speech | energy: audible | voice detector | turns, confirmed | stalls, confirmed | voice that is skipped |',
);
console.log('|---|---|---|---|---|---|---|---|');
for (const condition of ['plain', ...CONDITIONS]) {
  const clips = speech.filter((clip) => conditionOf(clip) === condition);
  printRow(`speech, ${condition}`, clips, true);
}
const plain = speech.filter((clip) => conditionOf(clip) === 'plain');
for (const [name, quieterDb] of [
  ['noise', 10],
  ['noise', 0],
  ['an organ', 10],
  ['an organ', 0],
  ['a piano', 0],
  ['a keyboard', 0],
] as const) {
  const under = voiceless.find((clip) => clip.name === name) as Clip;
  printRow(`speech, ${quieterDb} dB above ${name}`, mixed(plain, under, quieterDb), true);
}
for (const clip of voiceless) printRow(clip.name, [clip], false);
console.log(
  `\nThe detector takes ${((1000 * detectorMs) / 1000 / detectorSeconds).toFixed(1)} ms for a second of audio.`,
);
