// `provider_params` of ElevenLabs: https://elevenlabs.io/docs/api-reference/speech-to-text/convert
import { Type } from '@sinclair/typebox';
import { flag, fraction, honouredBy, integer, number, oneOf, optionTable, texts } from '../kit/options.ts';
import { toBaseLanguages, toRedactions } from '../kit/vocabulary/conversions.ts';
import { FILE_MODELS, LIVE_MODELS } from './models.ts';

const everywhere = honouredBy({ live: LIVE_MODELS, batch: FILE_MODELS });
const live = honouredBy({ live: LIVE_MODELS });
const files = honouredBy({ batch: FILE_MODELS });

const entities = (description: string) => texts(50, description, { minItems: 1, maxLength: 64 });

/** Of files: less than 50 characters, 5 words at most. */
const heardTerms = (terms: readonly string[]) =>
  terms.every((term) => term.length < 50 && term.split(/\s+/).length <= 5) ? terms : undefined;

export const options = optionTable({
  keyterms: everywhere(texts(1_000, 'Words and phrases to expect; live 50, of 20 characters each. Costs extra.'), {
    common: { keyterms: { to: heardTerms, inUrl: ['live'] } },
    other: {
      models: LIVE_MODELS,
      schema: texts(50, 'Words and phrases to expect, of 20 characters each. Costs extra.', { maxLength: 20 }),
    },
  }),
  no_verbatim: everywhere(flag('Leaves filler words and false starts out.')),
  enable_logging: everywhere(flag('False keeps nothing at the provider, for accounts that may ask for that.')),
  secondary_languages: live(texts(20, 'Codes of languages that may be spoken beside `language`.', { maxLength: 8 }), {
    common: { languages: { to: toBaseLanguages, beside: true } },
  }),
  include_language_detection: live(flag('Names the language of each turn.')),
  filter_background_audio: live(flag('Leaves speech in the background out. Words then have no times.')),
  num_speakers: files(integer(1, 32, 'The most speakers that talk.')),
  diarization_threshold: files(fraction('How different voices have to be; not with `num_speakers`.')),
  timestamps_granularity: files(oneOf(['none', 'word', 'character'], 'Times that are asked for; `word` when absent.')),
  tag_audio_events: files(flag('Writes "(laughter)" and the like into the text; false when absent.')),
  entity_redaction: files(entities('What is blacked out: pii, phi, pci, or names of entities. Costs extra.'), {
    common: { redact: { to: toRedactions({ pii: ['pii'], phi: ['phi'], pci: ['pci'] }) } },
  }),
  entity_redaction_mode: files(
    oneOf(['redacted', 'entity_type', 'enumerated_entity_type'], 'What stands in place of what is blacked out.'),
  ),
  entity_detection: honouredBy({})(
    entities('Known to the provider; the gateway has no place for entities and does not ask for them.'),
  ),
  temperature: files(number(0, 2, 'Of sampling.'), { common: 'temperature' }),
  seed: files(Type.Integer({ minimum: 0, maximum: 2_147_483_647, description: 'Of sampling.' })),
  use_multi_channel: files(flag('Files: each channel by itself, and billed by itself; five at most.')),
});
