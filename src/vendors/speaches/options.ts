// `provider_params` of speaches: https://github.com/speaches-ai/speaches. Sessions take none of them.
import { fraction, honouredBy, optionTable, text } from '../kit/options.ts';
import { TERMS_AS_TEXT } from '../kit/vocabulary/conversions.ts';

const files = honouredBy({ batch: true });

export const options = optionTable({
  prompt: files(text(8_192, 'Text in the expected style or with the expected words.'), { common: 'prompt' }),
  hotwords: files(text(8_192, 'Words to expect, in one text.'), { common: TERMS_AS_TEXT }),
  temperature: files(fraction('Of sampling; 0 when absent.'), { common: 'temperature' }),
});
