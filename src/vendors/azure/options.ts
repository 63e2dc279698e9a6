// `provider_params` of Azure.
import { flag, honouredBy, integer, oneOf, optionTable, text, texts } from '../kit/options.ts';
import { localeOf } from './models.ts';

const everywhere = honouredBy({ live: true, batch: true });
const live = honouredBy({ live: true });
const files = honouredBy({ batch: true });

export const options = optionTable({
  phrases: everywhere(texts(500, 'Words and phrases to expect.'), {
    wire: { live: false, batch: 'phraseList.phrases' },
    common: 'keyterms',
  }),
  profanity: everywhere(oneOf(['masked', 'removed', 'raw'], 'What becomes of profanity; masked when absent.'), {
    wire: { batch: false },
  }),
  segmentation_silence_ms: live(integer(100, 5_000, 'Silence that ends a turn, in milliseconds.'), {
    wire: 'segmentationSilenceTimeoutMs',
  }),
  segmentation_strategy: live(
    oneOf(['Default', 'Time', 'Semantic'], 'Whether turns end by silence or by what is said as well.'),
    { wire: 'segmentationStrategy' },
  ),
  stable_partial_threshold: live(integer(1, 20, 'How often a word of an interim result must have been the same.'), {
    wire: 'stableIntermediateThreshold',
  }),
  true_text: live(flag('Leaves out disfluencies, and writes what is read more easily.'), { wire: false }),
  custom_endpoint_id: live(text(64, 'Id of a custom speech endpoint of the same account.'), { wire: 'cid' }),
  max_speakers: files(integer(2, 36, 'Files: tells speakers apart, so many at most.'), {
    wire: 'diarization.maxSpeakers',
    wholeFile: true,
  }),
  locales: files(texts(10, 'Files: the locales among which the language is found.', { maxLength: 16 }), {
    common: { languages: { to: (languages) => languages.map((each) => localeOf(each)) } },
  }),
});
