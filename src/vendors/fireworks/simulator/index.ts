// Fireworks as its clients meet it: one endpoint for files in the form of OpenAI, with fields and rules of its own.

import { Type } from '@sinclair/typebox';
import type { JsonObject } from '../../kit/json.ts';
import type { SimulatedAnswer } from '../../kit/simulation.ts';
import { members, oneOf, type ValueFault } from '../../kit/simulator/checks.ts';
import type { KeyFault } from '../../kit/simulator/credentials.ts';
import {
  answerIn,
  type FileAnswer,
  invalid,
  type Refusal,
  refuse,
  refuseWith,
} from '../../kit/simulator/openai-answers.ts';
import { openaiShapedSimulator } from '../../kit/simulator/openai-service.ts';

const GRANULARITIES = '(word|segment)';

const form = members(
  { file: Type.Unknown() },
  {
    model: oneOf('whisper-v3-turbo'),
    vad_model: oneOf('silero', 'whisperx-pyannet'),
    alignment_model: oneOf('mms_fa', 'tdnn_ffn'),
    language: Type.String({ pattern: '^[a-z]{2,3}(-han[st])?$' }),
    prompt: Type.String(),
    temperature: Type.Number(),
    response_format: oneOf('json', 'text', 'srt', 'verbose_json', 'vtt'),
    // One text with commas, or a list.
    timestamp_granularities: Type.Array(Type.String({ pattern: `^${GRANULARITIES}(,${GRANULARITIES})*$` })),
    diarize: oneOf('true', 'false'),
    min_speakers: Type.Integer({ minimum: 1 }),
    max_speakers: Type.Integer({ minimum: 1 }),
    preprocessing: oneOf('none', 'dynamic', 'soft_dynamic', 'bass_dynamic'),
  },
);

const UNAUTHORIZED: Refusal = { status: 401, code: null, type: 'unauthorized', message: 'Unauthorized' };
const KEY_REFUSALS: Readonly<Record<KeyFault, Refusal>> = {
  missing: UNAUTHORIZED,
  bad: UNAUTHORIZED,
  broke: { status: 412, code: null, type: 'precondition_failed', message: 'The account is suspended.' },
  limited: { status: 429, code: null, type: 'rate_limit_exceeded', message: 'Too many requests.' },
};
const BY_STATUS: Readonly<Record<number, Refusal>> = {
  401: UNAUTHORIZED,
  404: { status: 404, code: null, type: 'not_found', message: 'Not found.' },
  429: KEY_REFUSALS.limited,
};

const wordsAsked = ({ timestamp_granularities: asked = [] }: JsonObject): boolean => String(asked).includes('word');

/** What one field asks of others. */
function ruleBroken(asked: JsonObject): SimulatedAnswer | undefined {
  const { diarize, response_format, min_speakers, max_speakers } = asked;
  if (diarize !== 'true') {
    const isCounted = min_speakers !== undefined || max_speakers !== undefined;
    return isCounted ? refuse(invalid('diarize', 'The number of speakers needs diarize=true.')) : undefined;
  }
  if (response_format !== 'verbose_json') return refuse(invalid('response_format', 'diarize needs verbose_json.'));
  return wordsAsked(asked) ? undefined : refuse(invalid('timestamp_granularities', 'diarize needs times of words.'));
}

function answer(heard: FileAnswer, asked: JsonObject): SimulatedAnswer {
  const whole = answerIn({ ...heard, wordTimes: wordsAsked(asked) });
  if (heard.format !== 'verbose_json') return whole;
  const {
    usage: _,
    segments,
    words,
    ...rest
  } = whole.body as JsonObject & { segments: JsonObject[]; words?: JsonObject[] };
  const speakerAt = (start: unknown): JsonObject => {
    const index = heard.turns.findIndex((turn) => Number(start) < turn.end);
    return asked.diarize === 'true' ? { speaker_id: `SPEAKER_0${index % 2}` } : {};
  };
  const withSpeakers = (parts: readonly JsonObject[]) => parts.map((part) => ({ ...part, ...speakerAt(part.start) }));
  const told = words?.map((word) => ({ ...word, probability: 0.9, hallucination_score: 0.1 }));
  const body = {
    ...rest,
    segments: withSpeakers(segments),
    ...(told === undefined ? {} : { words: withSpeakers(told) }),
  };
  return { ...whole, body };
}

export const simulator = openaiShapedSimulator({
  provider: 'fireworks',
  base: '/v1',
  keyRefusal: (fault) => refuse(KEY_REFUSALS[fault]),
  refusal: (status) => refuseWith(status, BY_STATUS),
  files: {
    form,
    bytesMax: 1_000_000_000,
    refusals: {
      tooLarge: refuse({ status: 413, code: null, message: 'The file is too large.' }),
      faulty: ({ member, message }: ValueFault) => refuse(invalid(member, `${member}: ${message}`)),
      unreadable: refuse(invalid('file', 'Could not decode the audio file.')),
    },
    answer: (heard, asked) => ruleBroken(asked) ?? answer(heard, asked),
  },
});
