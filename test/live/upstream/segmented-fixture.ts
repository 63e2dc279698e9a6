// Speech that no two places of are alike, and a provider of files that knows it by heart: what it is sent says where in the
// session it was cut out, to the sample, and which words are in it.
import type { ServerResponse } from 'node:http';
import { withLiveTurns } from '../../../src/vendors/kit/live-turns.ts';
import type { BatchResult, HttpBatchCodec, Provider } from '../../../src/vendors/kit/provider.ts';
import { HttpProvider, scriptedProvider } from './http-batch-fixture.ts';

export const RATE = 16_000;
const WAV_HEADER_BYTES = 44;
/** Samples by which a place is known: no two are alike. */
const KNOWN_SAMPLES = 64;
const LOUD = 8_000;
const QUIET = 25;

export interface SaidWord {
  text: string;
  from: number;
  to: number;
}

export interface Speech {
  audio: Int16Array;
  words: SaidWord[];
}

/** Words of so many milliseconds, each with the pause before it; noise all of it, and never the same twice. */
export function speechOf(words: readonly { pauseMs: number; ms: number }[], tailMs = 700): Speech {
  const samplesOf = (ms: number) => Math.round((ms * RATE) / 1000);
  const length = words.reduce((sum, { pauseMs, ms }) => sum + samplesOf(pauseMs) + samplesOf(ms), samplesOf(tailMs));
  const audio = new Int16Array(length);
  let noise = 1;
  const fill = (from: number, to: number, amplitude: number) => {
    for (let at = from; at < to; at++) {
      noise = (Math.imul(noise, 1_103_515_245) + 12_345) | 0;
      audio[at] = Math.round((noise / 2 ** 31) * amplitude);
    }
  };
  let at = 0;
  const said = words.map(({ pauseMs, ms }, index) => {
    const from = at + samplesOf(pauseMs);
    const to = from + samplesOf(ms);
    fill(at, from, QUIET);
    fill(from, to, LOUD);
    at = to;
    return { text: `word${index}`, from, to };
  });
  fill(at, length, QUIET);
  return { audio, words: said };
}

/** Where in the speech a file was cut out; silence that fills it up is left out. */
function placeOf(file: Buffer, { audio }: Speech): { from: number; to: number } {
  const samples = file.subarray(WAV_HEADER_BYTES);
  const whole = Buffer.from(audio.buffer, audio.byteOffset, audio.byteLength);
  const at = whole.indexOf(samples.subarray(0, KNOWN_SAMPLES * 2));
  if (at < 0 || at % 2 !== 0) throw new Error('The file holds nothing of what was said.');
  let length = Math.min(samples.length, whole.length - at);
  while (Buffer.compare(samples.subarray(0, length), whole.subarray(at, at + length)) !== 0) {
    // Only zeros may follow.
    length -= 2;
    if (samples.readInt16LE(length) !== 0) throw new Error('The file is no piece of what was said.');
  }
  return { from: at / 2, to: (at + length) / 2 };
}

/** What becomes of a request for a file. */
export type Fate = 'answer' | 'refuse' | 'cut' | 'cut_answer' | 'stall' | 'nothing' | 'late';

/** A provider with the one model `<name>/file`, which hears utterances of that speech. */
export class KnowingProvider {
  readonly http = new HttpProvider();
  readonly provider: Provider;
  /** What it was sent, in the order of the requests. */
  readonly heard: { from: number; to: number }[] = [];
  /** Of the requests to come; `answer` once there is none. */
  fates: Fate[] = [];
  /** Answers that wait to be let go, by where their audio begins: requests may pass each other on their way. */
  readonly waiting: { from: number; answer(): void }[] = [];
  /** Requests whose client went away without an answer. */
  private left = 0;
  private onLeft: () => unknown = () => {};
  private readonly speech: Speech;

  constructor(name: string, speech: Speech, codec: Partial<HttpBatchCodec> = {}) {
    this.speech = speech;
    const own: Partial<HttpBatchCodec> = {
      read: (_, { body }) => ({ type: 'done', result: JSON.parse(body) as BatchResult }),
      ...codec,
    };
    this.provider = withLiveTurns(scriptedProvider(name, { codec: own }));
    this.http.answers = [(response, { body }) => this.take(response, body)];
  }

  /** Resolves when so many are. */
  allLeft(count: number): Promise<void> {
    return new Promise((resolve) => {
      this.onLeft = () => this.left >= count && resolve();
      this.onLeft();
    });
  }

  private take(response: ServerResponse, file: Buffer): void {
    const place = placeOf(file, this.speech);
    this.heard.push(place);
    const text = JSON.stringify(this.resultOf(place));
    response.on('close', () => {
      if (!response.writableFinished) this.left++;
      this.onLeft();
    });
    const head = { 'content-type': 'application/json' };
    const fate = this.fates.shift() ?? 'answer';
    if (fate === 'answer') response.writeHead(200, head).end(text);
    else if (fate === 'nothing') response.writeHead(200, head).end(JSON.stringify(EMPTY));
    else if (fate === 'refuse') response.writeHead(500, head).end('{}');
    else if (fate === 'cut') response.destroy();
    else if (fate === 'late') {
      this.waiting.push({ from: place.from, answer: () => response.writeHead(200, head).end(text) });
      this.waiting.sort((a, b) => a.from - b.from);
    } else if (fate === 'cut_answer') {
      response.writeHead(200, { ...head, 'content-length': String(text.length) });
      response.write(text.slice(0, text.length / 2), () => response.destroy());
    }
  }

  /** The words that are in it as a whole; of the others what is there is named, so that no test takes it for a word. */
  private resultOf({ from, to }: { from: number; to: number }): BatchResult {
    const inside = this.speech.words.filter((word) => word.to > from && word.from < to);
    const words = inside.map((word) => ({
      word: word.from >= from && word.to <= to ? word.text : `${word.text}[${word.from - from}..${to - word.to}]`,
      start: Math.max(0, word.from - from) / RATE,
      end: (Math.min(to, word.to) - from) / RATE,
    }));
    const [first] = words;
    if (first === undefined) return EMPTY;
    const text = words.map(({ word }) => word).join(' ');
    const end = words.at(-1)?.end ?? 0;
    return { ...EMPTY, utterances: [{ text, start: first.start, end, words }] };
  }
}

const EMPTY: BatchResult = { utterances: [], language: undefined, seconds: undefined, warnings: [] };
