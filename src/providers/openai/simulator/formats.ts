// The answers of the simulated file endpoint: what was heard, in each `response_format` and as server-sent events.
import { textOf } from '../../kit/simulator/words.ts';
import { languageName } from '../../kit/whisper-languages.ts';
import type { HeardTurn, SimulatedAnswer } from '../../simulation.ts';

/** What a file is answered with. */
export interface Heard {
  model: string;
  format: string;
  language: string | undefined;
  seconds: number;
  turns: readonly HeardTurn[];
  /** Names of speakers, in the order they are heard. */
  speakers: readonly string[];
  wordTimes: boolean;
  logprobs: boolean;
}

type Members = Readonly<Record<string, unknown>>;

const WHISPER_DEFAULTS = {
  ...{ seek: 0, tokens: [], temperature: 0 },
  ...{ avg_logprob: -0.1, compression_ratio: 1, no_speech_prob: 0 },
};

/** The answer, whole. */
export function answerIn(heard: Heard): SimulatedAnswer {
  const { format, turns, seconds: duration } = heard;
  const text = textOf(turns);
  if (format === 'text') return plain(`${text}\n`);
  if (format === 'srt') return plain(subtitles(turns, ','));
  if (format === 'vtt') return plain(`WEBVTT\n\n${subtitles(turns, '.')}`);
  const usage = usageOf(heard.model, duration, text);
  if (format === 'json') return { status: 200, body: { text, ...extras(heard), usage } };
  const rest = format === 'verbose_json' ? verbose(heard) : { segments: segmentsOf(heard) };
  return { status: 200, body: { task: 'transcribe', duration, text, ...rest, usage } };
}

const plain = (body: string): SimulatedAnswer => ({
  status: 200,
  headers: { 'content-type': 'text/plain; charset=utf-8' },
  body,
});

/** The answer as server-sent events. */
export function streamIn(heard: Heard): SimulatedAnswer {
  const text = textOf(heard.turns);
  const deltas = (text.match(/\s*\S+/g) ?? []).map((delta) => ({ type: 'transcript.text.delta', delta }));
  const usage = usageOf(heard.model, heard.seconds, text);
  const events: Members[] = [
    ...(heard.format === 'diarized_json' ? segmentsOf(heard) : deltas),
    { type: 'transcript.text.done', text, ...extras(heard), usage },
  ];
  const body = events.map((event) => `event: ${String(event.type)}\ndata: ${JSON.stringify(event)}\n\n`).join('');
  return { status: 200, headers: { 'content-type': 'text/event-stream' }, body };
}

const extras = ({ model, language, turns, logprobs }: Heard): Members => ({
  ...(model === 'gpt-transcribe' && language !== undefined ? { languages: [{ code: language }] } : {}),
  ...(logprobs ? { logprobs: turns.flatMap(logprobsOf) } : {}),
});

const logprobsOf = ({ words, confidence }: HeardTurn): Members[] =>
  words.map(({ word }) => ({ token: word, bytes: [...Buffer.from(word)], logprob: Math.log(confidence) }));

/** What is counted: seconds by most models, tokens by those of the 4o family. */
export function usageOf(model: string, seconds: number, text: string): Members {
  if (!model.startsWith('gpt-4o')) return { type: 'duration', seconds: Math.ceil(seconds) };
  const audio = Math.round(seconds * 10);
  const output = text.split(' ').length;
  const details = { input_token_details: { audio_tokens: audio, text_tokens: 0 } };
  return { type: 'tokens', input_tokens: audio, output_tokens: output, total_tokens: audio + output, ...details };
}

function verbose({ language = 'en', turns, wordTimes }: Heard): Members {
  const segments = turns.map(({ text, start, end }, id) => ({ id, start, end, text: ` ${text}`, ...WHISPER_DEFAULTS }));
  const words = turns.flatMap((turn) => turn.words.map(({ word, start, end }) => ({ word, start, end })));
  return { language: languageName(language), segments, ...(wordTimes ? { words } : {}) };
}

/** Two speakers take turns, unless more are known. */
const segmentsOf = ({ turns, speakers }: Heard): Members[] =>
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
