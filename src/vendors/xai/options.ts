// `provider_params` of xAI: https://docs.x.ai/developers/rest-api-reference/inference/speech-to-text
import { flag, fraction, honouredBy, integer, optionTable, texts } from '../kit/options.ts';
import { MODELS } from './models.ts';

const everywhere = honouredBy({ live: MODELS, batch: MODELS });
const live = honouredBy({ live: MODELS });

export const options = optionTable({
  keyterm: everywhere(texts(100, 'Words and phrases to expect.', { maxLength: 50 }), {
    common: { keyterms: { inUrl: ['live'] } },
  }),
  filler_words: everywhere(flag('Keeps "uh" and "um".')),
  vad_threshold: everywhere(
    fraction('How surely audio has to be speech to be transcribed; 0.08 live and 0.5 for files when absent.'),
  ),
  endpointing: live(integer(0, 5_000, 'Milliseconds of silence that end a turn; 400 when absent.')),
  smart_turn: live(
    fraction(
      'Ends a turn at silence once the model is so sure of it, and tells how sure; by silence alone when absent.',
    ),
  ),
  smart_turn_timeout: live(
    integer(1, 5_000, 'With `smart_turn`: milliseconds of silence that end a turn in any case; 3000 when absent.'),
  ),
});
