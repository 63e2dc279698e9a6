// `provider_params` of vLLM: https://docs.vllm.ai/en/latest/serving/openai_compatible_server. Sessions take none of them.
import { fraction, honouredBy, integer, number, optionTable, text } from '../kit/options.ts';
import { TERMS_AS_TEXT } from '../kit/vocabulary/conversions.ts';
import { FILES } from './models.ts';

const files = honouredBy({ batch: FILES });

export const options = optionTable({
  prompt: files(text(8_192, 'Text in the expected style or with the expected words.'), { common: 'prompt' }),
  hotwords: files(text(8_192, 'Words to expect, in one text.'), { common: TERMS_AS_TEXT }),
  temperature: files(fraction('Of sampling; 0 when absent.'), { common: 'temperature' }),
  seed: files(integer(0, 2_147_483_647, 'Of sampling: the same seed gives the same text.')),
  repetition_penalty: files(number(0, 2, 'What makes repetitions less likely where it is above 1.')),
  max_completion_tokens: files(integer(1, 65_536, 'The longest answer, in tokens.')),
});
