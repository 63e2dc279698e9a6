// The answers of an endpoint for files that is shaped like OpenAI's: what was heard, in each `response_format` and as
// server-sent events.

import type { JsonObject } from '../json.ts';
import { languageName } from '../languages/whisper-languages.ts';
import type { HeardTurn, SimulatedAnswer } from '../simulation.ts';
import { textOf } from './words.ts';

export interface Refusal {
  code: string | null;
  message: string;
  param?: string;
  /** `invalid_request_error` when absent. */
  type?: string;
  /** Of an answer; 400 when absent. */
  status?: number;
  headers?: Record<string, string>;
}

export const errorOf = ({ code, message, param, type = 'invalid_request_error' }: Refusal) => ({
  ...{ type, code, message },
  param: param ?? null,
});

export const refuse = (refusal: Refusal): SimulatedAnswer => ({
  status: refusal.status ?? 400,
  headers: { ...refusal.headers },
  body: { error: errorOf(refusal) },
});

/** A refusal of a status: in the service's own words where it has some. */
export const refuseWith = (status: number, known: Readonly<Record<number, Refusal>>): SimulatedAnswer =>
  refuse(known[status] ?? { status, code: null, message: 'The request was refused.', type: 'internal_server_error' });

export const invalid = (param: string, message: string, code = 'invalid_value'): Refusal => ({ code, message, param });

export const missing = (param: string): Refusal =>
  invalid(param, `Missing required parameter: '${param}'.`, 'missing_required_parameter');

/** What a file is answered with. */
export interface FileAnswer {
  format: string;
  language: string | undefined;
  seconds: number;
  turns: readonly HeardTurn[];
  /** Names of speakers, in the order they are heard. */
  speakers: readonly string[];
  wordTimes: boolean;
  /** Members of the formats that have the text alone, and of the end of a stream. */
  extras: JsonObject;
  usage: JsonObject;
}

const WHISPER_DEFAULTS = {
  ...{ seek: 0, tokens: [], temperature: 0 },
  ...{ avg_logprob: -0.1, compression_ratio: 1, no_speech_prob: 0 },
};

/** The answer, whole. */
export function answerIn(answer: FileAnswer): SimulatedAnswer {
  const { format, turns, seconds: duration, extras, usage } = answer;
  const text = textOf(turns);
  if (format === 'text') return plain(`${text}\n`);
  if (format === 'srt') return plain(subtitles(turns, ','));
  if (format === 'vtt') return plain(`WEBVTT\n\n${subtitles(turns, '.')}`);
  if (format === 'json') return { status: 200, body: { text, ...extras, usage } };
  const rest = format === 'verbose_json' ? verbose(answer) : { segments: segmentsOf(answer) };
  return { status: 200, body: { task: 'transcribe', duration, text, ...rest, usage } };
}

const plain = (body: string): SimulatedAnswer => ({
  status: 200,
  headers: { 'content-type': 'text/plain; charset=utf-8' },
  body,
});

/** The answer as server-sent events. */
export function streamIn(answer: FileAnswer): SimulatedAnswer {
  const text = textOf(answer.turns);
  const deltas = (text.match(/\s*\S+/g) ?? []).map((delta) => ({ type: 'transcript.text.delta', delta }));
  const events: JsonObject[] = [
    ...(answer.format === 'diarized_json' ? segmentsOf(answer) : deltas),
    { type: 'transcript.text.done', text, ...answer.extras, usage: answer.usage },
  ];
  const body = events.map((event) => `event: ${String(event.type)}\ndata: ${JSON.stringify(event)}\n\n`).join('');
  return { status: 200, headers: { 'content-type': 'text/event-stream' }, body };
}

function verbose({ language = 'en', turns, wordTimes }: FileAnswer): JsonObject {
  const segments = turns.map(({ text, start, end }, id) => ({ id, start, end, text: ` ${text}`, ...WHISPER_DEFAULTS }));
  const words = turns.flatMap((turn) => turn.words.map(({ word, start, end }) => ({ word, start, end })));
  return { language: languageName(language), segments, ...(wordTimes ? { words } : {}) };
}

/** Speakers take turns. */
const segmentsOf = ({ turns, speakers }: FileAnswer): JsonObject[] =>
  turns.map(({ text, start, end }, index) => ({
    ...{ type: 'transcript.text.segment', id: `seg_${index}`, start, end, text },
    speaker: speakers[index % speakers.length] as string,
  }));

const subtitles = (turns: readonly HeardTurn[], mark: string): string =>
  turns
    .map(({ text, start, end }, index) => `${index + 1}\n${timeOf(start, mark)} --> ${timeOf(end, mark)}\n${text}\n\n`)
    .join('');

/** `HH:MM:SS,mmm`, for files shorter than a day. */
const timeOf = (seconds: number, mark: string): string =>
  new Date(Math.round(seconds * 1000)).toISOString().slice(11, 23).replace('.', mark);
