// Files, in the form of OpenAI with fields of its own. An answer may name several languages in one text.
import { textIn } from '../kit/json.ts';
import { openaiShapedBatch } from '../kit/openai-shaped/batch.ts';
import type { BatchRequest } from '../kit/provider.ts';
import { failures } from './failures.ts';
import { api } from './models.ts';
import { options } from './options.ts';

export const batch = openaiShapedBatch({
  api,
  options,
  failures,
  formatOf: () => 'verbose_json',
  ownTimes: true,
  fields: (request) => ({
    // One text: that is the form which is documented.
    timestamp_granularities: wantsWords(request) ? 'word,segment' : 'segment',
    diarize: request.diarization || undefined,
  }),
  shaped: (answer) => ({ ...answer, language: textIn(answer.language)?.split(',')[0] }),
  // Audio is mixed down to one channel: https://docs.fireworks.ai/api-reference/audio-transcriptions
  billsChannels: 'never',
});

/** Speakers are told with words only. */
function wantsWords(request: BatchRequest): boolean {
  const { timestamp_granularities } = options.honoured(request.params, request.model, 'batch');
  return request.wordTimestamps || request.diarization || timestamp_granularities?.includes('word') === true;
}
