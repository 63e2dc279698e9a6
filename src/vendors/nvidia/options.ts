// `provider_params` of Riva, by its own names. What a server was not built with it leaves out without a word.
import { Type } from '@sinclair/typebox';
import { flag, fraction, honouredBy, integer, number, optionTable, texts } from '../kit/options.ts';

const everywhere = honouredBy({ live: true, batch: true });
const ending = (name: string) => ({ wire: `endpointingConfig.${name}` });
const milliseconds = (about: string) => integer(0, 10_000, about);

export const options = optionTable({
  profanity_filter: everywhere(flag('Masks profanities.'), { wire: 'profanityFilter' }),
  enable_automatic_punctuation: everywhere(flag('Punctuation and capitals; on when absent.'), {
    wire: 'enableAutomaticPunctuation',
  }),
  verbatim_transcripts: everywhere(flag('Numbers and dates stay words.'), { wire: 'verbatimTranscripts' }),
  phrases: everywhere(texts(500, 'Words and names to expect.', { minItems: 1, maxLength: 100 }), {
    wire: false,
    common: 'keyterms',
  }),
  boost: everywhere(number(0, 20, 'How much the `phrases` are preferred; 10 when absent.'), {
    wire: false,
    common: { vocabulary_boost: { to: (boost) => boost * 20 } },
  }),
  max_speaker_count: everywhere(integer(1, 8, 'Speakers at most, where they are told apart.'), { wire: false }),
  start_history: everywhere(milliseconds('Milliseconds in which speech begins a turn.'), ending('startHistory')),
  start_threshold: everywhere(fraction('Share of them that has to be speech.'), ending('startThreshold')),
  stop_history: everywhere(
    milliseconds('Milliseconds of silence that end a turn; 800 when absent.'),
    ending('stopHistory'),
  ),
  stop_threshold: everywhere(fraction('Share of them that has to be silence.'), ending('stopThreshold')),
  stop_history_eou: everywhere(
    milliseconds('The same for a first end, which is still unsettled.'),
    ending('stopHistoryEou'),
  ),
  stop_threshold_eou: everywhere(fraction('Share of those that has to be silence.'), ending('stopThresholdEou')),
  custom_configuration: everywhere(
    Type.Record(Type.String({ minLength: 1, maxLength: 128 }), Type.String({ maxLength: 1_024 }), {
      maxProperties: 32,
      description: 'What else a server of one’s own takes, by name.',
    }),
    { wire: 'customConfiguration' },
  ),
});
