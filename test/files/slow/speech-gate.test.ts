// The speech gate of files with the real detector in its process: honest speech of every kind passes, and what is invented is found.
import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { afterAll, describe, expect, test } from 'vitest';
import type { Utterance } from '../../../machines/events.ts';
import { wavHeader } from '../../../src/audio/containers/wav.ts';
import { FileDecodings } from '../../../src/files/decoding/decoding.ts';
import { FileSource } from '../../../src/files/file-source.ts';
import { FileGate, type FileGateOutcome, FileSpeechGates } from '../../../src/files/speech-gate.ts';
import { Recogniser } from '../../../src/recogniser/recogniser.ts';
import { systemClock } from '../../../src/runtime/telemetry/clock.ts';
import { groq } from '../../../src/vendors/groq/index.ts';
import type { ModelCard } from '../../../src/vendors/kit/provider.ts';
import { tarMembers } from '../../audio/length/honest/made.ts';
import { audioOf, sample } from '../../recogniser/listening.ts';
import { type Clip, honestClips, voicelessClips } from '../../recogniser/voice-clips.ts';
import { voiceProcesses } from '../../recogniser/voice-processes.ts';

const ARCHIVE = new URL('../../fixtures/audio/voices/files.tar.gz', import.meta.url);
const CARD = groq.models[0] as ModelCard;

const recogniser = new Recogniser({
  ...{ workers: 1, streamsMax: 8, queueBytesMax: 2 * 1024 ** 2, dictationStreamsMax: 16, dictationSlots: 2 },
});
const decodings = new FileDecodings({ clock: systemClock });
const outcomes: FileGateOutcome[] = [];
const speechGates = new FileSpeechGates({
  engine: recogniser,
  clock: systemClock,
  decodings,
  onOutcome: (outcome) => outcomes.push(outcome),
  onOverflow: () => {},
});
afterAll(async () => {
  decodings.close();
  await recogniser.close();
});

/** What becomes of these texts, all in one answer. */
async function judged(bytes: Uint8Array, utterances: Utterance[], seconds: number): Promise<FileGateOutcome[]> {
  const file = await FileSource.open({
    bytes: bytes.length,
    rawSampleRate: undefined,
    pieces: [bytes],
    read: async function* () {
      for (let at = 0; at < bytes.length; at += 65_536) yield bytes.subarray(at, at + 65_536);
    },
  });
  const gate = new FileGate(speechGates, file, {
    ...{ requested: 'mark' as const, organisationId: 'org_1', signal: new AbortController().signal },
  });
  gate.begin(CARD);
  outcomes.length = 0;
  try {
    await gate.judged({ utterances, language: 'en', seconds, warnings: [], member: { card: CARD } }, 0);
    return [...outcomes];
  } finally {
    gate.close();
  }
}

const whole = (seconds: number): Utterance[] => [{ text: 'Thank you.', start: 0, end: seconds }];
/** With times, as the model heard it. */
const timed = (from: number, to: number): Utterance => ({
  text: 'Thank you.',
  start: from,
  end: to,
  words: [{ word: 'Thank', start: from, end: to }],
});

const wavOf = ({ samples, sampleRate }: Clip): Uint8Array =>
  Buffer.concat([wavHeader(sampleRate, samples.byteLength), new Uint8Array(samples.buffer)]);
const secondsOf = ({ samples, sampleRate }: Clip) => samples.length / sampleRate;

const files = [...tarMembers(gunzipSync(readFileSync(ARCHIVE)))];
const named = (prefix: string) => files.filter(([name]) => name.startsWith(prefix));

describe('honest speech', () => {
  test('passes in a hundred files of every kind that real encoders made, cut tightly', async () => {
    expect(named('spoken-').length).toBeGreaterThanOrEqual(100);
    const marked: string[] = [];
    for (const [name, bytes] of named('spoken-')) {
      for (const utterances of [whole(30), [timed(0, 0.4)]]) {
        const [outcome] = await judged(bytes, utterances, 30);
        if (outcome !== 'spoken') marked.push(`${name}: ${outcome}`);
      }
    }
    expect(marked).toEqual([]);
  }, 300_000);

  test('passes in all clips, without any silence around them', async () => {
    const marked: string[] = [];
    const clips = honestClips();
    expect(clips.length).toBeGreaterThan(200);
    for (const clip of clips) {
      const [outcome] = await judged(wavOf(clip), whole(secondsOf(clip)), secondsOf(clip));
      if (outcome !== 'spoken') marked.push(`${clip.name}: ${outcome}`);
    }
    expect(marked).toEqual([]);
  }, 300_000);
});

describe('invented text', () => {
  test('is found in sounds without a voice', async () => {
    const passed: string[] = [];
    for (const clip of voicelessClips()) {
      const [outcome] = await judged(wavOf(clip), whole(secondsOf(clip)), secondsOf(clip));
      if (outcome !== 'marked') passed.push(`${clip.name}: ${outcome}`);
    }
    for (const [name, bytes] of named('voiceless-')) {
      const [outcome] = await judged(bytes, whole(4), 4);
      if (outcome !== 'marked') passed.push(`${name}: ${outcome}`);
    }
    expect(passed).toEqual([]);
  }, 120_000);

  test('is found before, between and after speech', async () => {
    const speech = new Int16Array(audioOf(sample('commands.wav')).buffer);
    const noise = voicelessClips().find(({ name }) => name === 'noise') as Clip;
    const parts = [noise.samples, speech, noise.samples, speech, noise.samples];
    const samples = Int16Array.from(parts.flatMap((part) => [...part]));
    const spoken = speech.length / 16_000;
    const [first, second] = [6, 12 + spoken];
    const utterances = [
      timed(2, 4),
      timed(first, first + spoken),
      timed(first + spoken + 2, first + spoken + 4),
      timed(second, second + spoken),
      timed(second + spoken + 2, second + spoken + 4),
    ];
    const clip = { name: '', samples, sampleRate: 16_000 };
    expect(await judged(wavOf(clip), utterances, secondsOf(clip))).toEqual([
      ...['marked', 'spoken', 'marked', 'spoken', 'marked'],
    ]);
  });
});

describe('a long file', () => {
  test('is checked minute by minute', async () => {
    const minutes = 20;
    const minute = new Int16Array(60 * 16_000);
    minute.set(new Int16Array(audioOf(sample('commands.wav')).buffer), 16_000);
    const samples = new Int16Array(minutes * minute.length);
    for (let at = 0; at < minutes; at++) samples.set(minute, at * minute.length);
    const texts = Array.from({ length: minutes }, (_, at) => [
      timed(60 * at + 1, 60 * at + 15),
      timed(60 * at + 40, 60 * at + 42),
    ]);
    const found = await judged(wavOf({ name: '', samples, sampleRate: 16_000 }), texts.flat(), minutes * 60);
    expect(found).toEqual(Array(minutes).fill(['spoken', 'marked']).flat());
  }, 120_000);
});

describe('the detector', () => {
  test('is killed: text passes unmarked, and the next file is checked by another', async () => {
    const noise = voicelessClips().find(({ name }) => name === 'noise') as Clip;
    const samples = new Int16Array(100 * noise.samples.length);
    for (let at = 0; at < 100; at++) samples.set(noise.samples, at * noise.samples.length);
    const judging = judged(wavOf({ ...noise, samples }), whole(600), 600);
    while (recogniser.streams === 0) await new Promise((resolve) => setImmediate(resolve));
    for (const pid of voiceProcesses()) process.kill(pid, 'SIGKILL');
    expect(await judging).toEqual(['no_detector']);
    expect(await judged(wavOf(noise), whole(6), 6)).toEqual(['marked']);
  }, 60_000);
});
