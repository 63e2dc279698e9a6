// `npm run bench -- voice`: how much speech the energy meter and the voice detector find, and how much of other sounds they take for
// speech. `turns` cuts utterances, `speech` finds stalls, `audible` decides which silence is skipped.
import { fileURLToPath } from 'node:url';
import { PcmConverter } from '../src/audio/resampler.ts';
import { SpeechMeter } from '../src/audio/voice/energy.ts';
import { VoiceActivity, WindowPower } from '../src/audio/voice/voice-activity.ts';
import { builtInModel } from '../src/recogniser/dictation/model.ts';
import { loadSherpa } from '../src/recogniser/dictation/sherpa.ts';
import { FRAME_SAMPLES, VoiceDetectors } from '../src/recogniser/dictation/voice-detector.ts';
import { speechModelsFolder } from '../src/runtime/telemetry/worker-file.ts';
import { type Clip, honestClips, voicelessClips } from '../test/recogniser/voice-clips.ts';

const RATE = 16_000;
/** Silence on both sides of a clip. */
const PAUSE = new Int16Array(0.6 * RATE);
/** Less is not found. */
const FOUND_SECONDS_MIN = 0.1;

/** Seconds that each takes for speech. */
interface Heard {
  turns: number;
  speech: number;
  audible: number;
  detector: number;
}

const { voiceModel } = builtInModel(fileURLToPath(speechModelsFolder()));
const detectors = new VoiceDetectors(loadSherpa(), voiceModel);

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
  const detector = detectors.take();
  let voicedSamples = 0;
  for (let at = 0; at + FRAME_SAMPLES <= audio.length; at += FRAME_SAMPLES) {
    const frame = Float32Array.from(audio.subarray(at, at + FRAME_SAMPLES), (sample) => sample / 32_768);
    if (detector.hear(frame)) voicedSamples += FRAME_SAMPLES;
  }
  detectors.giveBack(detector);
  return {
    turns: loudSamples / RATE,
    speech: meter.speech.within(0, audio.length) / RATE,
    audible: meter.audible.within(0, audio.length) / RATE,
    detector: voicedSamples / RATE,
  };
}

function printRow(name: string, clips: readonly Clip[], isSpeech: boolean): void {
  const heard = clips.map(heardIn);
  const seconds = clips.reduce((sum, { samples, sampleRate }) => sum + samples.length / sampleRate, 0);
  const cells = (['turns', 'speech', 'audible', 'detector'] as const).map((what) => {
    if (!isSpeech) return `${Math.round((100 * heard.reduce((sum, each) => sum + each[what], 0)) / seconds)} %`;
    return `${heard.filter((each) => each[what] >= FOUND_SECONDS_MIN).length} of ${clips.length}`;
  });
  console.log(`| ${name} | ${cells.join(' | ')} |`);
}

const CONDITIONS = ['quiet', 'by telephone', 'with noise behind it'];
const speech = honestClips();
const conditionOf = ({ name }: Clip) => CONDITIONS.find((each) => name.endsWith(`, ${each}`)) ?? 'plain';

console.log('Clips of speech that were found, and the share of other sounds that was taken for speech\n');
console.log('| sound | energy: turns | energy: speech | energy: audible | voice detector |');
console.log('|---|---|---|---|---|');
for (const condition of ['plain', ...CONDITIONS]) {
  const clips = speech.filter((clip) => conditionOf(clip) === condition);
  printRow(`speech, ${condition}`, clips, true);
}
for (const clip of voicelessClips()) printRow(clip.name, [clip], false);
