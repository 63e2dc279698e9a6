// One stream of dictation over a detector and a decoder of the test's own: turns, interims, order, bounds. Speech is a steady sound
// here, and the decoder reports how long it was.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { DecodeQueue } from '../../../src/recogniser/dictation/decode-queue.ts';
import {
  DICTATION_TIMING,
  DictationStream,
  type DictationStreamOptions,
  type Transcript,
  type UtteranceAudio,
} from '../../../src/recogniser/dictation/stream.ts';
import { FRAME_SAMPLES, LAG_SAMPLES } from '../../../src/recogniser/dictation/voice-detector.ts';
import type { StreamMessage } from '../../../src/recogniser/protocol.ts';

const RATE = 16_000;
const LOUD = 8_000;

/** As the detector does, it knows of a change somewhat later. */
class SoundDetector {
  #run = 0;
  #isSpeaking = false;

  hear(frame: Float32Array): boolean {
    const isLoud = frame.some((sample) => Math.abs(sample) > 0.1);
    this.#run = isLoud === this.#isSpeaking ? 0 : this.#run + frame.length;
    if (this.#run >= (isLoud ? LAG_SAMPLES.start : LAG_SAMPLES.end)) {
      this.#isSpeaking = isLoud;
      this.#run = 0;
    }
    return this.#isSpeaking;
  }
}

/** Tenths of a second of sound in it, as text. */
function lengthOf({ samples }: UtteranceAudio): string {
  const loud = samples.filter((sample) => Math.abs(sample) > 0.1).length;
  return `${Math.round((loud * 10) / RATE)}`;
}

class Rig {
  readonly messages: StreamMessage[] = [];
  readonly held: boolean[] = [];
  readonly waiting: ((transcript: Transcript) => void)[] = [];
  readonly decoded: number[] = [];
  readonly failures: unknown[] = [];
  /** How many of the next decodes fail. */
  failing = 0;
  finished = false;
  nowMs = 0;
  readonly stream: DictationStream;

  constructor(options: Partial<DictationStreamOptions> & { isSlow?: boolean } = {}) {
    const decode = (utterance: UtteranceAudio): Promise<Transcript> => {
      this.decoded.push(utterance.samples.length / RATE);
      if (this.failing > 0) {
        this.failing--;
        return Promise.reject(new Error('The model is out of memory.'));
      }
      const text = lengthOf(utterance);
      const transcript = { text: text === '0' ? '' : text, words: [], estimated: false };
      if (options.isSlow !== true) return Promise.resolve(transcript);
      return new Promise((resolve) => this.waiting.push(resolve)).then(() => transcript);
    };
    this.stream = new DictationStream({
      decoder: { decode },
      detector: new SoundDetector(),
      queue: new DecodeQueue(2),
      organisation: 'org',
      endpointingMs: 500,
      interims: false,
      say: (message) => this.messages.push(message),
      onHeld: (isHeld) => this.held.push(isHeld),
      onFailed: (error) => this.failures.push(error),
      nowMs: () => this.nowMs,
      ...options,
    });
  }

  /** Sends pieces of sound and silence, by their seconds, as they are spoken. */
  speak(...seconds: number[]): this {
    for (const [at, length] of seconds.entries()) {
      for (let sent = 0; sent < length - 1e-9; sent += 0.1) {
        this.nowMs += 100;
        this.stream.audio(piece(Math.min(0.1, length - sent), at % 2 === 0 ? 0 : LOUD));
      }
    }
    return this;
  }

  /** Sends all at once. */
  pour(...seconds: number[]): this {
    for (const [at, length] of seconds.entries()) this.stream.audio(piece(length, at % 2 === 0 ? 0 : LOUD));
    return this;
  }

  async finish(): Promise<StreamMessage[]> {
    await new Promise<void>((resolve) => this.stream.finish(resolve));
    this.finished = true;
    return this.messages;
  }

  texts(): string[] {
    return this.messages.flatMap((message) => (message.type === 'final' ? [message.text] : []));
  }
}

function piece(seconds: number, loudness: number): Uint8Array {
  const samples = new Int16Array(Math.round(seconds * RATE)).fill(loudness);
  return new Uint8Array(samples.buffer);
}

const settled = () => new Promise<void>((resolve) => setImmediate(resolve));

test('gives each stretch of speech between two silences one final', async () => {
  const rig = new Rig().speak(0.5, 1, 1, 2, 1, 0.5, 1);
  const messages = await rig.finish();
  expect(messages.map(({ type }) => type)).toEqual([
    ...['speech_started', 'final', 'speech_started', 'final', 'speech_started', 'final', 'finished'],
  ]);
  expect(rig.texts()).toEqual(['10', '20', '5']);
});

test('keeps a pause that is shorter than the silence that ends a turn', async () => {
  const rig = new Rig().speak(0.5, 1, 0.4, 1, 1);
  await rig.finish();
  expect(rig.texts()).toEqual(['20']);
});

test.each([300, 1_000, 3_000])('ends a turn after %i ms of silence, when that is requested', async (endpointingMs) => {
  const rig = new Rig({ endpointingMs });
  rig.speak(0.5, 1, endpointingMs / 1000 - 0.1);
  await settled();
  expect(rig.texts()).toEqual([]);
  rig.speak(0.4);
  await settled();
  expect(rig.texts()).toEqual(['10']);
});

test('reports where speech began and ended on the clock of the stream', async () => {
  const [started, final] = await new Rig().speak(0.5, 1, 1).finish();
  expect(started).toMatchObject({ type: 'speech_started', start: expect.closeTo(0.5, 1) });
  expect(final).toMatchObject({ type: 'final', start: expect.closeTo(0.5, 1), end: expect.closeTo(1.5, 1) });
});

test('reports silence, and sound that the model does not recognise, without text', async () => {
  expect(await new Rig().speak(5).finish()).toEqual([{ type: 'finished' }]);
  const deaf = { decode: () => Promise.resolve({ text: '', words: [], estimated: false }) };
  const messages = await new Rig({ decoder: deaf }).speak(0.5, 1, 1).finish();
  expect(messages.map(({ type }) => type)).toEqual(['speech_started', 'no_match', 'finished']);
});

test('ends a turn at once on a finalize, and the next sound begins another', async () => {
  const rig = new Rig().speak(0.5, 1);
  rig.stream.finalize();
  await settled();
  expect(rig.texts()).toEqual(['10']);
  rig.stream.finalize();
  rig.speak(0.5, 1);
  await rig.finish();
  expect(rig.texts()).toEqual(['10', '10']);
});

test('shows interims that grow during speech, one in 600 ms', async () => {
  const rig = new Rig({ interims: true });
  for (let step = 0; step < 30; step++) {
    rig.speak(0, 0.1);
    await settled();
  }
  const interims = rig.messages.flatMap((message) =>
    message.type === 'interim' ? [Number(message.text.split(' ').at(-1))] : [],
  );
  expect(interims.length).toBeGreaterThanOrEqual(4);
  expect(rig.messages.filter(({ type }) => type === 'final')).toEqual([]);
});

test('decodes no interim in a pause, and shows what was said before it when it is long enough', async () => {
  const rig = new Rig({ interims: true });
  const step = async (...seconds: number[]) => {
    rig.speak(...seconds);
    await settled();
  };
  for (let each = 0; each < 11; each++) await step(0, 0.1);
  const decodes = rig.decoded.length;
  for (let each = 0; each < 3; each++) await step(0.1);
  expect([decodes, rig.decoded.length]).toEqual([1, 1]);
  for (let each = 0; each < 2; each++) await step(0.1);
  expect(rig.decoded.length).toBe(2);
  expect(rig.messages.at(-1)).toMatchObject({ type: 'interim', text: '11' });
});

test('decodes a bounded part of a long turn for each interim', async () => {
  const rig = new Rig({ interims: true });
  for (let step = 0; step < 180; step++) {
    rig.speak(0, 0.1);
    await settled();
  }
  const { unsettledMsMax, interimMs } = DICTATION_TIMING;
  expect(Math.max(...rig.decoded)).toBeLessThanOrEqual((unsettledMsMax + 2 * interimMs) / 1000);
});

test('shows no interims of a recording, which comes faster than it is spoken', async () => {
  const rig = new Rig({ interims: true });
  rig.pour(0.5, 1);
  rig.nowMs += 1_000;
  rig.pour(0.2, 4);
  await settled();
  const shown = rig.messages.length;
  for (let step = 0; step < 10; step++) {
    rig.pour(0, 1);
    rig.nowMs += 100;
    await settled();
  }
  expect(rig.messages.slice(shown).filter(({ type }) => type === 'interim')).toEqual([]);
});

test('shows no interims when none are wanted, not even what was decoded in a pause', async () => {
  const rig = new Rig().speak(0.5, 1, 0.5);
  await settled();
  rig.speak(0, 1, 1);
  await settled();
  expect(rig.messages.filter(({ type }) => type === 'interim')).toEqual([]);
});

test('shows nothing of less than 600 ms of speech, of which a model would invent a text', async () => {
  const rig = new Rig({ interims: true }).speak(0.5);
  const first: number[] = [];
  for (let step = 1; step <= 12; step++) {
    rig.speak(0, 0.1);
    await settled();
    if (rig.messages.some(({ type }) => type === 'interim')) first.push(step);
  }
  expect(first[0]).toBeGreaterThanOrEqual(6);
  expect(first[0]).toBeLessThanOrEqual(7);
});

test('decodes an utterance once more when that failed, and loses none of it', async () => {
  const rig = new Rig().speak(0.5, 1);
  rig.failing = 1;
  rig.speak(1, 2, 1);
  await rig.finish();
  expect([rig.texts(), rig.failures]).toEqual([['10', '20'], []]);
});

test('leaves out an interim that cannot be decoded, and reports the final', async () => {
  const rig = new Rig({ interims: true, endpointingMs: 300 });
  rig.failing = 1;
  for (let step = 0; step < 8; step++) {
    rig.speak(0, 0.1);
    await settled();
  }
  expect(rig.messages.map(({ type }) => type)).toEqual(['speech_started']);
  rig.speak(1);
  await rig.finish();
  expect([rig.texts(), rig.failures]).toEqual([['8'], []]);
});

test('fails once when an utterance cannot be decoded, also not again, and reports nothing in its place', async () => {
  const rig = new Rig().speak(0.5, 1, 1);
  await settled();
  rig.failing = 4;
  rig.speak(0, 1, 1, 2, 1);
  await settled();
  expect(rig.failures.length).toBeGreaterThanOrEqual(1);
  rig.stream.abandon();
  const failures = rig.failures.length;
  rig.speak(0, 1, 1);
  await settled();
  expect([rig.texts(), rig.failures.length]).toEqual([['10'], failures]);
  expect(rig.messages.filter(({ type }) => type === 'no_match')).toEqual([]);
});

test('uses what was decoded in a pause when the turn ends there', async () => {
  const rig = new Rig().speak(0.5, 1, 0.5);
  await settled();
  const decodes = rig.decoded.length;
  rig.speak(0.5);
  await settled();
  expect([rig.texts(), decodes, rig.decoded.length]).toEqual([['10'], 1, 1]);
});

test('decodes again when speech continues after a pause', async () => {
  const rig = new Rig().speak(0.5, 1, 0.45, 1, 1);
  await rig.finish();
  expect(rig.texts()).toEqual(['20']);
});

test('cuts speech without a pause after 20 s, and loses none of it', async () => {
  const rig = new Rig().speak(0.5, 65, 1);
  await rig.finish();
  const lengths = rig.texts().map(Number);
  expect(lengths.length).toBe(4);
  expect(Math.max(...lengths)).toBeLessThanOrEqual(201);
  expect(lengths.reduce((sum, length) => sum + length, 0)).toBeCloseTo(650, -1);
});

test('reports in the order of speech when a later utterance is decoded first', async () => {
  const rig = new Rig({ isSlow: true }).pour(0.5, 1, 1, 2, 1);
  await settled();
  rig.waiting[1]!({ text: '', words: [], estimated: false });
  await settled();
  expect(rig.texts()).toEqual([]);
  rig.waiting[0]!({ text: '', words: [], estimated: false });
  await settled();
  expect(rig.texts()).toEqual(['10', '20']);
  await rig.finish();
});

test('takes no more audio while a minute of it waits to be decoded', async () => {
  const rig = new Rig({ isSlow: true });
  for (let turn = 0; turn < 8; turn++) rig.pour(1, 9);
  expect(rig.held).toEqual([true]);
  for (let turn = 0; turn < 8; turn++) {
    for (const resolve of rig.waiting.splice(0)) resolve({ text: '', words: [], estimated: false });
    await settled();
  }
  expect(rig.held).toEqual([true, false]);
});

test('reports nothing more when it is abandoned, and decodes nothing that waits', async () => {
  const rig = new Rig({ isSlow: true }).pour(0.5, 1, 1, 1, 1, 1, 1);
  await settled();
  const [messages, decodes] = [rig.messages.length, rig.decoded.length];
  rig.stream.abandon();
  for (const resolve of rig.waiting) resolve({ text: '', words: [], estimated: false });
  await settled();
  expect([rig.messages.length, rig.decoded.length]).toEqual([messages, decodes]);
});

test('gives the same finals however the audio is cut', async () => {
  const audio = Buffer.concat([piece(0.5, 0), piece(1, LOUD), piece(1, 0), piece(2.2, LOUD), piece(0.9, 0)]);
  const finals = async (cuts: readonly number[]) => {
    const rig = new Rig();
    let at = 0;
    for (const cut of cuts) {
      rig.stream.audio(audio.subarray(at, at + cut));
      at += cut;
    }
    rig.stream.audio(audio.subarray(at));
    return (await rig.finish()).filter(({ type }) => type === 'final');
  };
  const whole = await finals([]);
  expect(whole.length).toBe(2);
  await fc.assert(
    fc.asyncProperty(fc.array(fc.integer({ min: 0, max: 3 * FRAME_SAMPLES + 1 }), { maxLength: 60 }), async (cuts) => {
      expect(await finals(cuts)).toEqual(whole);
    }),
    { numRuns: 30 },
  );
});
