// Speechmatics' options: what each takes, and where it stands on the wire.
import type { OptionFixtures } from '../../suites/provider/fixtures.ts';

const MODELS = ['enhanced', 'standard'];
const BOTH = { live: MODELS, batch: MODELS };
const LIVE = { live: MODELS };
const FLAG = { takes: [true, false], refuses: ['yes', 1] };
const FRACTION = { takes: [0, 1], refuses: [-0.1, 1.1] };

export const options: OptionFixtures = {
  rows: {
    domain: { takes: ['medical'], refuses: [1], ...BOTH },
    output_locale: { takes: ['en-GB'], refuses: [1], ...BOTH },
    max_delay: { takes: [0.7, 4], refuses: [0.6, 4.1], ...LIVE },
    max_delay_mode: { takes: ['flexible', 'fixed'], refuses: ['none'], ...LIVE },
    end_of_utterance_silence_trigger: {
      takes: [0.1, 2],
      refuses: [0, 2.1],
      ...LIVE,
      at: 'conversation_config.end_of_utterance_silence_trigger',
    },
    additional_vocab: {
      takes: [['Voxgate', { content: 'gnocchi', sounds_like: ['nyohki'] }], []],
      refuses: [[''], [{ sounds_like: ['a'] }], 'a'],
      ...BOTH,
    },
    punctuation_sensitivity: { ...FRACTION, ...BOTH, at: 'punctuation_overrides.sensitivity' },
    permitted_marks: {
      takes: [['.', ','], []],
      refuses: ['.', ['']],
      ...BOTH,
      at: 'punctuation_overrides.permitted_marks',
    },
    remove_disfluencies: { ...FLAG, ...BOTH, at: 'transcript_filtering_config.remove_disfluencies' },
    replacements: {
      takes: [[{ from: '/a+/', to: 'b' }]],
      refuses: [[{ from: 'a' }], [{ from: '', to: 'b' }]],
      ...BOTH,
      at: 'transcript_filtering_config.replacements',
    },
    enable_entities: { ...FLAG, ...BOTH },
    max_speakers: { takes: [2, 100], refuses: [1, 101], ...LIVE, at: 'speaker_diarization_config.max_speakers' },
    speaker_sensitivity: { ...FRACTION, ...BOTH, at: 'speaker_diarization_config.speaker_sensitivity' },
    prefer_current_speaker: { ...FLAG, ...BOTH, at: 'speaker_diarization_config.prefer_current_speaker' },
    volume_threshold: { takes: [0, 100], refuses: [-1, 101], ...BOTH, at: 'audio_filtering_config.volume_threshold' },
  },
};
