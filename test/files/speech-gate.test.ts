// The speech gate of files with a detector that knows where voices are: what is marked, dropped or left alone, and what is bounded.
import { afterEach, describe, expect, test } from 'vitest';
import { SimulatedClock } from 'xstate';
import type { Utterance } from '../../machines/events.ts';
import { transcriptionOf, verboseTranscriptionOf } from '../../src/files/answers.ts';
import type { FileDecodings } from '../../src/files/decoding/decoding.ts';
import { type AudioFile, FileSource } from '../../src/files/file-source.ts';
import type { FileResult } from '../../src/files/job.ts';
import { answerOf } from '../../src/files/routes/answer.ts';
import { readFields } from '../../src/files/routes/form.ts';
import { FileGate, type FileGateOutcome, FileSpeechGates } from '../../src/files/speech-gate.ts';
import { groq } from '../../src/vendors/groq/index.ts';
import type { Engine, EngineListener, ModelCard } from '../../src/vendors/kit/provider.ts';
import { load } from './decoded.ts';

const RATE = 16_000;
const CARD = groq.models[0] as ModelCard;

/** Where people speak, in seconds of the file. */
type Voices = readonly [start: number, end: number][];

/** A detector that knows it. */
class FakeDetector implements Engine {
  readonly streams: FakeStream[] = [];
  /** Said to whoever opens a stream. */
  refusal: string | undefined;
  isHeld = false;
  private readonly voices: Voices;

  constructor(voices: Voices = []) {
    this.voices = voices;
  }

  connect(query: Readonly<Record<string, unknown>>, listener: EngineListener, owner?: string) {
    expect(query).toEqual({ task: { kind: 'voice' } });
    const stream = new FakeStream(this, listener, this.voices, owner);
    this.streams.push(stream);
    if (this.refusal !== undefined) queueMicrotask(() => stream.refuse(this.refusal as string));
    return stream;
  }

  get open(): number {
    return this.streams.filter(({ isOver }) => !isOver).length;
  }

  /** Works on what waits. */
  release(): void {
    this.isHeld = false;
    for (const stream of this.streams) stream.work();
  }
}

class FakeStream {
  bufferedBytes = 0;
  queuedBytesMax = 0;
  isOver = false;
  private isFinishing = false;
  private seconds = 0;
  private reported = 0;
  private readonly detector: FakeDetector;
  private readonly listener: EngineListener;
  private readonly voices: Voices;
  readonly owner: string | undefined;

  constructor(detector: FakeDetector, listener: EngineListener, voices: Voices, owner: string | undefined) {
    this.detector = detector;
    this.listener = listener;
    this.voices = voices;
    this.owner = owner;
  }

  send(frame: unknown): void {
    if (this.isOver) return;
    if (frame instanceof Uint8Array) {
      this.bufferedBytes += frame.length;
      this.queuedBytesMax = Math.max(this.queuedBytesMax, this.bufferedBytes);
    } else this.isFinishing = true;
    setImmediate(() => this.work());
  }

  get secondsTaken(): number {
    return this.seconds;
  }

  work(): void {
    if (this.isOver || this.detector.isHeld) return;
    this.seconds += this.bufferedBytes / 2 / RATE;
    this.bufferedBytes = 0;
    const ranges = this.voices
      .map(([start, end]) => [Math.max(this.reported, start), Math.min(this.seconds, end)] as const)
      .filter(([start, end]) => end > start);
    this.reported = this.seconds;
    this.listener.message({ type: 'voice', until: this.seconds, ranges });
    this.listener.drained();
    if (!this.isFinishing || this.isOver) return;
    this.listener.message({ type: 'finished' });
    this.isOver = true;
    this.listener.closed(1000, '');
  }

  refuse(code: string): void {
    this.listener.message({ type: 'error', code, message: '' });
    this.die();
  }

  die(): void {
    if (this.isOver) return;
    this.isOver = true;
    this.listener.closed(1011, '');
  }

  close(): void {}

  terminate(): void {
    this.isOver = true;
  }
}

const noDecodings: Pick<FileDecodings, 'open'> = {
  open: () => {
    throw new Error('No container is decoded here.');
  },
};

const gates: FileSpeechGates[] = [];
afterEach(() => {
  for (const each of gates.splice(0)) expect(each.size).toBe(0);
});

function gatesOf(detector: Engine) {
  const clock = new SimulatedClock();
  const outcomes: FileGateOutcome[] = [];
  const overflows: string[] = [];
  const speechGates = new FileSpeechGates({
    engine: detector,
    clock,
    decodings: noDecodings,
    onOutcome: (outcome) => outcomes.push(outcome),
    onOverflow: (name) => overflows.push(name),
  });
  gates.push(speechGates);
  return { clock, outcomes, overflows, speechGates };
}

/** Raw samples, in pieces of a tenth of a second. */
function rawFile(seconds: number, sample = 1_000): AudioFile {
  const piece = new Uint8Array(new Int16Array(RATE / 10).fill(sample).buffer);
  return {
    bytes: seconds * 2 * RATE,
    rawSampleRate: RATE,
    read: async function* () {
      for (let at = 0; at < Math.round(seconds * 10); at++) yield piece;
    },
  };
}

const said = (text: string, start: number, end: number, words?: Utterance['words']): Utterance => ({
  text,
  start,
  end,
  ...(words === undefined ? {} : { words }),
});

interface Case {
  voices?: Voices;
  utterances: Utterance[];
  seconds?: number;
  requested?: 'off' | 'mark' | 'drop';
  card?: ModelCard;
  file?: AudioFile;
  detector?: FakeDetector;
  told?: number;
  signal?: AbortSignal;
}

async function judged({ voices = [], utterances, seconds = 60, told = 0, card = CARD, ...given }: Case) {
  const detector = given.detector ?? new FakeDetector(voices);
  const made = gatesOf(detector);
  const file = await FileSource.open(given.file ?? rawFile(seconds));
  const { signal = new AbortController().signal } = given;
  const gate = new FileGate(made.speechGates, file, { requested: given.requested, organisationId: 'org_1', signal });
  const mode = gate.begin(card);
  const answer = { utterances, language: 'en', seconds, warnings: [], member: { card } };
  try {
    const outcome = await gate.judged(answer, told);
    return { ...made, detector, mode, outcome, marks: outcome.utterances.map(({ noSpeech }) => noSpeech) };
  } finally {
    gate.close();
  }
}

/** The answer in a format. */
function formatted(outcome: Awaited<ReturnType<typeof judged>>['outcome'], more: readonly [string, string][] = []) {
  const request = readFields([['model', 'groq/whisper-large-v3'], ...more]);
  const member = { ...outcome.member, slug: 'groq/whisper-large-v3', language: undefined, params: {} };
  const charge = { costMicroUsd: 0n, own: false, channels: 1 };
  return {
    request,
    outcome: { ...outcome, member, attempts: [] },
    warnings: outcome.warnings,
    charge,
  } as unknown as FileResult;
}

const THANKS = said('Thank you.', 40, 42, [
  { word: 'Thank', start: 40, end: 41 },
  { word: 'you.', start: 41, end: 42 },
]);
const HELLO = said('Hello there.', 1, 3, [
  { word: 'Hello', start: 1, end: 2 },
  { word: 'there.', start: 2, end: 3 },
]);
const SPOKEN: Voices = [[1.2, 2.9]];

describe('the speech gate of files', () => {
  test('marks the segment and the words whose audio has no voice, and no other', async () => {
    const { outcome, outcomes, marks } = await judged({ voices: SPOKEN, utterances: [HELLO, THANKS] });
    expect(marks).toEqual([undefined, true]);
    expect(outcomes).toEqual(['spoken', 'marked']);
    const { text, segments, words, no_speech, warnings } = verboseTranscriptionOf(
      formatted(outcome, [['response_format', 'verbose_json']]),
      'req_1',
    );
    expect(text).toBe('Hello there. Thank you.');
    expect(segments?.map((each) => [each.no_speech, each.no_speech_prob])).toEqual([
      [undefined, 0],
      [true, 1],
    ]);
    expect(words?.map((each) => each.no_speech)).toEqual([undefined, undefined, true, true]);
    expect(no_speech).toBeUndefined();
    expect(warnings).toMatchObject([{ code: 'no_speech', message: expect.stringContaining('1 of 2 segments') }]);
  });

  test('leaves it out of text, segments, words and subtitles with speech_gate=drop', async () => {
    const { outcome, outcomes } = await judged({ voices: SPOKEN, utterances: [HELLO, THANKS], requested: 'drop' });
    expect(outcomes).toEqual(['spoken', 'dropped']);
    for (const format of ['json', 'text', 'verbose_json', 'diarized_json', 'srt', 'vtt']) {
      const { body, headers } = answerOf(formatted(outcome, [['response_format', format]]), 'req_1');
      expect(String(body)).toContain('Hello there.');
      expect(String(body)).not.toContain('Thank');
      expect(headers?.['Voxgate-Warning']).toBe('no_speech');
    }
    const streamed = answerOf(formatted(outcome, [['stream', 'true']]), 'req_1');
    expect(String(streamed.body)).not.toContain('Thank');
  });

  test.each(['mark', 'drop'] as const)(
    'says of an answer without any speech that it has none (%s)',
    async (requested) => {
      const { outcome } = await judged({ utterances: [THANKS, said('Bye.', 50, 51)], requested });
      const answer = transcriptionOf(formatted(outcome));
      expect(answer).toMatchObject({ text: requested === 'mark' ? 'Thank you. Bye.' : '', no_speech: true });
      const { body } = answerOf(formatted(outcome, [['stream', 'true']]), 'req_1');
      expect(String(body).match(/"no_speech":true/g)).toHaveLength(requested === 'mark' ? 3 : 1);
    },
  );

  test('checks Whisper models by default, and others on request', async () => {
    const { isWhisper: _, ...other } = CARD;
    const modeOf = async (card: ModelCard, requested?: 'off' | 'mark' | 'drop') =>
      (await judged({ utterances: [HELLO], card, ...(requested && { requested }) })).mode;
    expect(await modeOf(CARD)).toBe('mark');
    expect(await modeOf(CARD, 'off')).toBe('off');
    expect(await modeOf(other)).toBe('off');
    expect(await modeOf(other, 'drop')).toBe('drop');
  });

  test('leaves text alone that was sent before the check', async () => {
    const { marks, outcome } = await judged({ utterances: [THANKS, said('Bye.', 50, 51)], told: 1 });
    expect(marks).toEqual([undefined, true]);
    expect(outcome.noSpeech).toBe(true);
  });

  test('needs no detector for digital silence', async () => {
    const { marks, detector } = await judged({ utterances: [THANKS], file: rawFile(60, 2) });
    expect(marks).toEqual([true]);
    expect(detector.streams).toHaveLength(0);
  });

  test('places voices where they are in the file when it begins with silence', async () => {
    const file: AudioFile = {
      ...rawFile(60),
      read: async function* () {
        yield new Uint8Array(2 * RATE * 30);
        yield* rawFile(30).read();
      },
    };
    // The detector's audio begins with the first sound.
    const { marks } = await judged({
      file,
      voices: [[1, 3]],
      utterances: [said('Hello.', 31, 33), said('Thank you.', 45, 46)],
    });
    expect(marks).toEqual([undefined, true]);
  });
});

describe('text that may be honest', () => {
  test('passes without times when there is a voice anywhere in the file', async () => {
    const whole = said('Thank you.', 0, 60);
    expect((await judged({ voices: [[30, 30.4]], utterances: [whole] })).marks).toEqual([undefined]);
    expect((await judged({ utterances: [whole] })).marks).toEqual([true]);
  });

  test('passes with unusable times', async () => {
    for (const utterance of [said('Yes.', 20, 20), said('Yes.', 900, 901), said('Yes.', Number.NaN, Number.NaN)]) {
      const { marks } = await judged({ voices: [[5, 6]], utterances: [HELLO, utterance] });
      expect(marks).toEqual([undefined, undefined]);
    }
  });

  test('passes when its voice is elsewhere between the texts around it', async () => {
    const { marks } = await judged({
      voices: [...SPOKEN, [20, 21], [24, 25], [50, 52]],
      utterances: [HELLO, said('First.', 10, 11), said('Second.', 13, 14), said('Last.', 50, 52)],
    });
    expect(marks).toEqual([undefined, undefined, undefined, undefined]);
  });

  test('passes when its voice ends a little after its time', async () => {
    const { marks } = await judged({ voices: [[10, 12]], utterances: [said('Hello.', 9.5, 10.2)] });
    expect(marks).toEqual([undefined]);
  });

  test('is distinguished from invented text between and after it', async () => {
    const { marks } = await judged({
      voices: [...SPOKEN, [50, 52]],
      utterances: [
        HELLO,
        said('Thank you.', 5, 7),
        said('Thanks.', 30, 32),
        said('Good bye.', 50, 52),
        said('Bye.', 56, 58),
      ],
    });
    expect(marks).toEqual([undefined, true, true, undefined, true]);
  });
});

describe('a file that cannot be checked', () => {
  const both = [HELLO, THANKS];

  test.each([
    ['is not there', 'model_unavailable', 'no_detector'],
    ['is full', 'recogniser_overloaded', 'overflow'],
    ['has no more room for the organisation', 'recogniser_share_used', 'overflow'],
  ])('passes unmarked, with one warning, when the detector %s', async (_what, refusal, reason) => {
    const detector = new FakeDetector();
    detector.refusal = refusal;
    const { marks, outcomes, outcome } = await judged({ detector, utterances: both, requested: 'drop' });
    expect(marks).toEqual([undefined, undefined]);
    expect(outcomes).toEqual([reason, reason]);
    expect(outcome.warnings).toMatchObject([{ code: 'speech_gate_unavailable' }]);
  });

  test('passes unmarked when the detector is killed in the middle', async () => {
    const detector = new FakeDetector();
    detector.isHeld = true;
    const judging = judged({ detector, utterances: both });
    await settled(() => detector.open === 1);
    detector.streams[0]?.die();
    const { marks, outcome, outcomes } = await judging;
    expect([marks, outcomes]).toEqual([
      [undefined, undefined],
      ['no_detector', 'no_detector'],
    ]);
    expect(outcome.warnings).toMatchObject([{ code: 'speech_gate_unavailable' }]);
  });

  test('passes unmarked in a container that is not decoded, with a warning if the client requested the check', async () => {
    const bytes = load('formats/aac.m4a');
    const file: AudioFile = {
      bytes: bytes.length,
      rawSampleRate: undefined,
      pieces: [bytes],
      read: async function* () {
        yield bytes;
      },
    };
    const quiet = await judged({ file, utterances: both });
    expect([quiet.marks, quiet.outcomes, quiet.outcome.warnings]).toEqual([
      [undefined, undefined],
      ['unreadable', 'unreadable'],
      [],
    ]);
    const asked = await judged({ file, utterances: both, requested: 'mark' });
    expect(asked.outcome.warnings).toMatchObject([{ code: 'speech_gate_unavailable' }]);
  });

  test('passes unmarked when a file was read once and no copy is kept', async () => {
    const { bytes: _, ...once } = rawFile(60);
    const { marks, outcomes } = await judged({ file: { ...once, bytes: undefined }, utterances: both });
    expect([marks, outcomes]).toEqual([
      [undefined, undefined],
      ['unreadable', 'unreadable'],
    ]);
  });

  test('is checked by its copy when it was read while it arrived', async () => {
    const { bytes: _, ...once } = rawFile(60);
    const file: AudioFile = { ...once, bytes: undefined, copy: async () => rawFile(60) };
    expect((await judged({ file, voices: SPOKEN, utterances: both })).marks).toEqual([undefined, true]);
  });
});

describe('the wait for the check', () => {
  test('is bounded: what was not checked by then passes', async () => {
    const detector = new FakeDetector();
    detector.isHeld = true;
    const { clock, speechGates, outcomes } = gatesOf(detector);
    const file = await FileSource.open(rawFile(60));
    const { signal } = new AbortController();
    const gate = new FileGate(speechGates, file, { requested: 'drop', organisationId: 'org_1', signal });
    gate.begin(CARD);
    let isOver = false;
    const answer = { utterances: [THANKS], language: 'en', seconds: 60, warnings: [], member: { card: CARD } };
    const judging = gate.judged(answer, 0).finally(() => {
      isOver = true;
    });
    await settled(() => detector.open === 1);
    clock.increment(4_499);
    await settled(() => true);
    expect(isOver).toBe(false);
    clock.increment(1);
    const { utterances, warnings } = await judging;
    expect([utterances, outcomes]).toEqual([[THANKS], ['late']]);
    expect(warnings).toMatchObject([{ code: 'speech_gate_unavailable' }]);
    gate.close();
    expect(detector.open).toBe(0);
  });

  test('is over when the rest of the file would change nothing', async () => {
    const detector = new FakeDetector([[1, 2]]);
    const { marks } = await judged({ detector, utterances: [said('Yes.', 0, 600)], seconds: 600 });
    expect(marks).toEqual([undefined]);
    const [stream] = detector.streams;
    expect(stream?.secondsTaken).toBeLessThan(60);
    const timed = new FakeDetector([[1, 2]]);
    await judged({ detector: timed, utterances: [HELLO], seconds: 600 });
    expect(timed.streams[0]?.secondsTaken).toBeLessThan(100);
  });

  test('ends with the request’s time: the answer is given as it is', async () => {
    const detector = new FakeDetector();
    detector.isHeld = true;
    const end = new AbortController();
    const judging = judged({ detector, utterances: [THANKS], signal: end.signal });
    await settled(() => detector.open === 1);
    end.abort(new DOMException('The work took too long.', 'TimeoutError'));
    expect((await judging).marks).toEqual([undefined]);
  });

  test('ends when the client has left', async () => {
    const detector = new FakeDetector();
    detector.isHeld = true;
    const end = new AbortController();
    const judging = judged({ detector, utterances: [THANKS], signal: end.signal });
    await settled(() => detector.open === 1);
    end.abort(new Error('gone'));
    await expect(judging).rejects.toThrow('gone');
    expect(detector.open).toBe(0);
  });
});

describe('many files', () => {
  async function opened(speechGates: FileSpeechGates, organisationId: string, seconds = 60) {
    const { signal } = new AbortController();
    const gate = new FileGate(speechGates, await FileSource.open(rawFile(seconds)), {
      ...{ requested: 'mark' as const, organisationId, signal },
    });
    gate.begin(CARD);
    return gate;
  }

  test('are checked eight at a time, six of one organisation; the others wait, and the fewest first', async () => {
    const detector = new FakeDetector();
    detector.isHeld = true;
    const { speechGates } = gatesOf(detector);
    const first = await Promise.all(Array.from({ length: 20 }, () => opened(speechGates, 'org_1')));
    await settled(() => detector.open === 6);
    const second = await Promise.all(Array.from({ length: 3 }, () => opened(speechGates, 'org_2')));
    await settled(() => detector.open >= 7);
    const owners = () => detector.streams.filter(({ isOver }) => !isOver).map(({ owner }) => owner);
    expect(owners()).toContain('org_2');
    expect(detector.open).toBeLessThanOrEqual(8);
    for (const each of first) each.close();
    await settled(() => owners().every((owner) => owner === 'org_2') && detector.open === 3);
    for (const each of second) each.close();
    expect(detector.open).toBe(0);
  });

  test('pass unchecked beyond 256, or 192 of one organisation, by name', async () => {
    const detector = new FakeDetector();
    detector.isHeld = true;
    const { speechGates, overflows } = gatesOf(detector);
    const open = [];
    for (let count = 0; count < 200; count++) open.push(await opened(speechGates, 'org_1', 1));
    expect([speechGates.size, overflows]).toEqual([192, Array(8).fill('gated_files')]);
    for (let count = 0; count < 100; count++) open.push(await opened(speechGates, `org_${count}`, 1));
    expect(speechGates.size).toBe(256);
    for (const each of open) each.close();
  });

  test('have no more than four seconds waiting for the detector each', async () => {
    const detector = new FakeDetector([[1, 2]]);
    detector.isHeld = true;
    const judging = judged({ detector, utterances: [HELLO], seconds: 600 });
    await settled(() => (detector.streams[0]?.bufferedBytes ?? 0) > 65_536);
    detector.release();
    expect((await judging).marks).toEqual([undefined]);
    expect(detector.streams[0]?.queuedBytesMax).toBeLessThan(4 * 2 * RATE);
  });
});

/** Turns of the event loop, until that is so. */
async function settled(isSo: () => boolean): Promise<void> {
  for (let turn = 0; turn < 10_000; turn++) {
    await new Promise((resolve) => setImmediate(resolve));
    if (isSo() && turn > 20) return;
  }
  throw new Error('It never came to that.');
}
