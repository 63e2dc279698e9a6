// A whisper.cpp server as its clients meet it: at its own path, and at OpenAI's, as where it is started with `--inference-path`.
// Members that it does not know it ignores, and of what it refuses it says next to nothing.
import { Type } from '@sinclair/typebox';
import type { SimulatedAnswer } from '../../kit/simulation.ts';
import { members, oneOf } from '../../kit/simulator/checks.ts';
import { answerIn, type FileAnswer } from '../../kit/simulator/openai-answers.ts';
import { openaiShapedSimulator } from '../../kit/simulator/openai-service.ts';

const number = Type.Number();
const form = members(
  { file: Type.Unknown() },
  {
    response_format: oneOf('json', 'text', 'verbose_json', 'srt', 'vtt'),
    ...{ temperature: number, beam_size: number, best_of: number, max_len: number },
    ...{ vad_threshold: number, no_speech_thold: number },
  },
  'ignored',
);

/** A handler writes over the bodies of most. */
const refusal = (status: number): SimulatedAnswer => {
  const body = status === 400 ? 'Invalid request' : `File Not Found (/inference)`;
  return {
    status,
    headers: { 'content-type': 'text/plain' },
    body: status >= 500 ? '500 Internal Server Error' : body,
  };
};

/** A line for each segment, with a space before it. */
function answer(heard: FileAnswer): SimulatedAnswer {
  const { turns, format } = heard;
  const text = turns.map((turn) => ` ${turn.text}\n`).join('');
  if (format === 'text') return { status: 200, headers: { 'content-type': 'text/html' }, body: text };
  if (format !== 'verbose_json' && format !== 'json') return answerIn(heard);
  if (format === 'json') return { status: 200, body: { text } };
  const { segments, usage: _, ...whole } = answerIn(heard).body as { segments: object[]; usage: unknown };
  const withWords = segments.map((segment, index) => ({ ...segment, words: partsOf(turns[index]) }));
  return { status: 200, body: { ...whole, text, segments: withWords } };
}

/** Parts of words: a longer one is two. */
const partsOf = ({ words }: FileAnswer['turns'][number] = { text: '', start: 0, end: 0, words: [], confidence: 1 }) =>
  words.flatMap(({ word, start, end }) => {
    const part = (text: string) => ({ word: text, start, end, t_dtw: -1, probability: 0.9 });
    return word.length < 3 ? [part(` ${word}`)] : [part(` ${word.slice(0, 2)}`), part(word.slice(2))];
  });

export const simulator = openaiShapedSimulator({
  provider: 'whispercpp',
  base: '/v1',
  paths: ['/inference'],
  keyRefusal: () => undefined,
  refusal,
  files: {
    form,
    refusals: {
      faulty: ({ member }) =>
        member === 'file' ? refusal(400) : { ...refusal(500), body: '500 Internal Server Error\nstoi' },
      unreadable: refusal(400),
    },
    answer,
  },
});
