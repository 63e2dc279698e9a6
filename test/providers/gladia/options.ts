// Gladia's options: what each takes, and where it stands on the wire.
import type { OptionFixtures } from '../../suites/provider/fixtures.ts';

const MODELS = ['solaria-1'];
const BOTH = { live: MODELS, batch: MODELS };
const LIVE = { live: MODELS };
const BATCH = { batch: MODELS };
const FLAG = { takes: [true, false], refuses: ['yes', 1] };
const COUNT = { takes: [1, 100], refuses: [0, 101, 1.5] };

export const options: OptionFixtures = {
  rows: {
    endpointing: { takes: [0.01, 10], refuses: [0, 10.1], ...LIVE },
    maximum_duration_without_endpointing: { takes: [5, 60], refuses: [4, 61], ...LIVE },
    languages: { takes: [['en', 'yue']], refuses: [[], ['english'], 'en'], ...BOTH },
    code_switching: { ...FLAG, ...BOTH },
    audio_enhancer: { ...FLAG, ...LIVE },
    speech_threshold: { takes: [0, 1], refuses: [-0.1, 1.1], ...LIVE },
    custom_vocabulary: {
      takes: [['Voxgate', { value: 'gnocchi', intensity: 0.5, pronunciations: ['nyohki'], language: 'it' }]],
      refuses: [[], [''], [{ intensity: 1 }], [{ value: 'a', intensity: 2 }]],
      ...BOTH,
    },
    custom_spelling: {
      takes: [{ Voxgate: ['vox gate'] }],
      refuses: [{ Voxgate: 'vox gate' }, { Voxgate: [] }],
      ...BOTH,
    },
    number_of_speakers: { ...COUNT, ...BATCH },
    min_speakers: { ...COUNT, ...BATCH },
    max_speakers: { ...COUNT, ...BATCH },
    pii_redaction: { takes: [['NAME', 'EMAIL_ADDRESS']], refuses: [[], 'NAME'], ...BATCH },
    pii_format: { takes: ['MARKER', 'MASK'], refuses: ['STAR'], ...BATCH },
    punctuation_enhanced: { ...FLAG, ...BATCH },
  },
};

/** Options that lie in an object of the request. */
const PLACES: Readonly<Record<string, string>> = {
  'language_config.languages': 'languages',
  'language_config.code_switching': 'code_switching',
  'pre_processing.audio_enhancer': 'audio_enhancer',
  'pre_processing.speech_threshold': 'speech_threshold',
  'custom_vocabulary_config.vocabulary': 'custom_vocabulary',
  'custom_spelling_config.spelling_dictionary': 'custom_spelling',
  'diarization_config.number_of_speakers': 'number_of_speakers',
  'diarization_config.min_speakers': 'min_speakers',
  'diarization_config.max_speakers': 'max_speakers',
  'pii_redaction_config.entity_types': 'pii_redaction',
  'pii_redaction_config.processed_text_type': 'pii_format',
};

const SWITCHES = ['custom_vocabulary', 'custom_spelling', 'diarization', 'pii_redaction'];

type Members = Readonly<Record<string, unknown>>;

/** What a request asks for, by the names of options; a switch beside what it is set to is called `<name> on`. */
export function askedIn({ realtime_processing = {}, ...body }: Members): Members {
  return Object.fromEntries(
    Object.entries({ ...body, ...(realtime_processing as Members) }).flatMap(([name, value]) => {
      if (typeof value !== 'object' || value === null) return [[SWITCHES.includes(name) ? `${name} on` : name, value]];
      const inside = Object.entries(value).filter(([member]) => PLACES[`${name}.${member}`] !== undefined);
      return inside.map(([member, each]) => [PLACES[`${name}.${member}`], each]);
    }),
  );
}
