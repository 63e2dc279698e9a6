// The simulated fast transcription: what a definition may ask for, and one answer with every phrase.
import { Type } from '@sinclair/typebox';
import { jsonOf } from '../../kit/json.ts';
import { fileIn, formOf, members, oneOf, wrongIn } from '../../kit/simulator/checks.ts';
import { confidenceOf, millisecondsOf, textOf, wordsOf } from '../../kit/simulator/words.ts';
import type { SimulatedAnswer, SimulatedRequest, SimulatorTools } from '../../simulation.ts';

const Definition = members(
  {},
  {
    locales: Type.Array(Type.String({ pattern: '^[a-z]{2,3}-[A-Za-z]{2,8}(-[A-Z]{2})?$' })),
    diarization: members({ enabled: Type.Boolean() }, { maxSpeakers: Type.Integer({ minimum: 2, maximum: 36 }) }),
    channels: Type.Array(Type.Integer({ minimum: 0, maximum: 1 }), { maxItems: 2 }),
    profanityFilterMode: oneOf('None', 'Masked', 'Removed', 'Tags'),
    phraseList: members({ phrases: Type.Array(Type.String()) }, { biasingWeight: Type.Number() }),
  },
);

const CODES: Readonly<Record<number, string>> = {
  400: 'InvalidRequest',
  401: 'Unauthorized',
  403: 'Forbidden',
  429: 'TooManyRequests',
};

export function refusal(status: number, message = 'The request was refused.'): SimulatedAnswer {
  return { status, body: { code: CODES[status] ?? (status >= 500 ? 'InternalServerError' : 'NotFound'), message } };
}

const placeOf = ({ start, end }: { start: number; end: number }) => {
  const offsetMilliseconds = millisecondsOf(start);
  return { offsetMilliseconds, durationMilliseconds: millisecondsOf(end) - offsetMilliseconds };
};

export async function answerFile(request: SimulatedRequest, tools: SimulatorTools): Promise<SimulatedAnswer> {
  const form = await formOf(request);
  const definition = jsonOf(String(form?.get('definition') ?? '{}'));
  const wrong = wrongIn(Definition, definition);
  if (wrong !== undefined) return refusal(400, wrong);
  const { locales = [], diarization } = definition as { locales?: string[]; diarization?: { enabled: boolean } };
  const audio = await fileIn(form, 'audio');
  if (audio === undefined) return refusal(400, 'The audio is missing.');
  const heard = await tools.transcribe(audio, locales[0]).catch(() => undefined);
  if (heard === undefined) {
    const innerError = { code: 'InvalidAudioFormat', message: 'The audio could not be decoded.' };
    return { status: 422, body: { code: 'UnprocessableEntity', message: innerError.message, innerError } };
  }
  const phrases = heard.turns.map((turn, index) => ({
    ...placeOf(turn),
    ...(diarization?.enabled === true ? { speaker: (index % 2) + 1 } : {}),
    text: turn.text,
    words: wordsOf(turn).map((word) => ({ text: word.word, ...placeOf(word) })),
    ...{ locale: locales[0] ?? 'en-US', confidence: confidenceOf([turn]) },
  }));
  const combinedPhrases = [{ text: textOf(heard.turns) }];
  return { status: 200, body: { durationMilliseconds: millisecondsOf(heard.seconds), combinedPhrases, phrases } };
}
