// `provider_params` of Fireworks: https://docs.fireworks.ai/api-reference/audio-transcriptions
import { fraction, honouredBy, oneOf, optionTable, text, timestampGranularities } from '../kit/options.ts';
import { PROMPT_WITH_TERMS } from '../kit/vocabulary/conversions.ts';

const files = honouredBy({ batch: true });

export const options = optionTable({
  prompt: files(text(1_024, 'Text in the expected style or with the expected words.'), { common: PROMPT_WITH_TERMS }),
  temperature: files(fraction('Of sampling; 0 when absent.'), { common: 'temperature' }),
  timestamp_granularities: files(timestampGranularities, { wire: false }),
  vad_model: files(oneOf(['silero', 'whisperx-pyannet'], 'What finds speech; silero when absent.')),
  alignment_model: files(
    oneOf(
      ['mms_fa', 'tdnn_ffn'],
      'What places words: mms_fa for many languages, tdnn_ffn for English; mms_fa when absent.',
    ),
  ),
  preprocessing: files(
    oneOf(['none', 'dynamic', 'soft_dynamic', 'bass_dynamic'], 'What is done about loudness before; none when absent.'),
  ),
});
