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
    languages: { takes: [['en', 'yue']], refuses: [[], ['english'], 'en'], ...BOTH, at: 'language_config.languages' },
    code_switching: { ...FLAG, ...BOTH, at: 'language_config.code_switching' },
    audio_enhancer: { ...FLAG, ...LIVE, at: 'pre_processing.audio_enhancer' },
    speech_threshold: { takes: [0, 1], refuses: [-0.1, 1.1], ...LIVE, at: 'pre_processing.speech_threshold' },
    custom_vocabulary: {
      takes: [['Voxgate', { value: 'gnocchi', intensity: 0.5, pronunciations: ['nyohki'], language: 'it' }]],
      refuses: [[], [''], [{ intensity: 1 }], [{ value: 'a', intensity: 2 }]],
      ...BOTH,
      at: 'custom_vocabulary_config.vocabulary',
    },
    custom_spelling: {
      takes: [{ Voxgate: ['vox gate'] }],
      refuses: [{ Voxgate: 'vox gate' }, { Voxgate: [] }],
      ...BOTH,
      at: 'custom_spelling_config.spelling_dictionary',
    },
    number_of_speakers: { ...COUNT, ...BATCH, at: 'diarization_config.number_of_speakers' },
    min_speakers: { ...COUNT, ...BATCH, at: 'diarization_config.min_speakers' },
    max_speakers: { ...COUNT, ...BATCH, at: 'diarization_config.max_speakers' },
    pii_redaction: {
      takes: [['NAME', 'EMAIL_ADDRESS']],
      refuses: [[], 'NAME'],
      ...BATCH,
      at: 'pii_redaction_config.entity_types',
    },
    pii_format: {
      takes: ['MARKER', 'MASK'],
      refuses: ['STAR'],
      ...BATCH,
      at: 'pii_redaction_config.processed_text_type',
    },
    punctuation_enhanced: { ...FLAG, ...BATCH },
  },
};
