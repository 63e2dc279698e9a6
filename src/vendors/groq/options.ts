// `provider_params` of Groq: https://console.groq.com/docs/api-reference#audio-transcription
import { fraction, honouredBy, optionTable, text, timestampGranularities } from '../kit/options.ts';
import { PROMPT_WITH_TERMS } from '../kit/vocabulary/conversions.ts';

const files = honouredBy({ batch: true });

export const options = optionTable({
  prompt: files(text(1_024, 'Text in the style, or with the words, that are expected; 224 tokens.'), {
    common: PROMPT_WITH_TERMS,
  }),
  temperature: files(fraction('Of sampling; 0 when absent.'), { common: 'temperature' }),
  timestamp_granularities: files(timestampGranularities, { wire: false }),
});
