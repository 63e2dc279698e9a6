// `provider_params` of Google, by its own names in the writing of its documents.
import { flag, honouredBy, number, oneOf, optionTable, texts } from '../kit/options.ts';

const everywhere = honouredBy({ live: true, batch: true });
const live = honouredBy({ live: true });
const chirp3 = honouredBy({ live: ['chirp_3'], batch: ['chirp_3'] });
const feature = (name: string) => ({ wire: `features.${name}` });

export const options = optionTable({
  language_codes: everywhere(
    texts(4, 'Languages to expect, such as `en-US`; `language` comes first among them.', {
      minItems: 1,
      maxLength: 16,
    }),
    { wire: false, common: 'languages' },
  ),
  profanity_filter: everywhere(flag('Masks profanities.'), feature('profanityFilter')),
  enable_automatic_punctuation: everywhere(flag('Punctuation; on when absent.'), feature('enableAutomaticPunctuation')),
  enable_spoken_punctuation: everywhere(
    flag('Words such as “comma” become the sign.'),
    feature('enableSpokenPunctuation'),
  ),
  enable_spoken_emojis: everywhere(flag('Spoken emojis become the sign.'), feature('enableSpokenEmojis')),
  phrases: everywhere(texts(500, 'Words and names to expect.', { minItems: 1, maxLength: 100 }), {
    wire: false,
    common: 'keyterms',
  }),
  boost: everywhere(number(0, 20, 'How much the `phrases` are preferred.'), {
    wire: false,
    common: { vocabulary_boost: { to: (boost) => boost * 20 } },
  }),
  endpointing_sensitivity: live(
    oneOf(['STANDARD', 'SHORT', 'SUPERSHORT'], 'How soon silence ends a turn; STANDARD when absent.'),
    { wire: false },
  ),
  denoise_audio: chirp3(flag('Cleans the audio before it is heard.'), { wire: 'denoiserConfig.denoiseAudio' }),
  snr_threshold: chirp3(number(0, 1000, 'How clear speech has to be; less is not transcribed.'), {
    wire: 'denoiserConfig.snrThreshold',
  }),
});
