// A file of a client of Vercel's AI Gateway, which is a member of a JSON object, and what is told of it.

import type { JsonFileEndpoint } from '../compat/dialect.ts';
import { jsonAnswer } from '../compat/request.ts';
import { turnsOf } from '../compat/transcript.ts';
import { objectIn } from '../kit/json.ts';
import { requestOf } from './params.ts';

export const transcriptionModel: JsonFileEndpoint = {
  member: 'audio',
  open: ({ providerOptions }, { headers, query }) =>
    requestOf(headers.get('ai-model-id'), objectIn(providerOptions), 'batch', query),
  answer: (transcription) => {
    const turns = turnsOf(transcription);
    const language = turns.find((turn) => turn.language !== undefined)?.language;
    return jsonAnswer({
      text: transcription.text,
      segments: turns.map(spanOf),
      words: (transcription.words ?? []).map(({ word, start, end }) => spanOf({ text: word, start, end })),
      ...(language === undefined ? {} : { language }),
      durationInSeconds: transcription.duration,
      warnings: (transcription.warnings ?? []).map(({ message }) => ({ type: 'other', message })),
      providerMetadata: { voxgate: { model: transcription.model } },
    });
  },
};

export const spanOf = ({ text, start, end }: { text: string; start: number; end: number }) => ({
  text,
  startSecond: start,
  endSecond: end,
});
