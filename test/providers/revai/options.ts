// Rev AI's options: what each takes, and where it is honoured.
import type { OptionFixtures } from '../../suites/provider/fixtures.ts';

const MODELS = ['machine'];
const BOTH = { live: MODELS, batch: MODELS };
const LIVE = { live: MODELS };
const BATCH = { batch: MODELS };
const FLAG = { takes: [true, false], refuses: ['yes', 1] };

export const options: OptionFixtures = {
  rows: {
    custom_vocabulary_id: { takes: ['cv-1'], refuses: [1], ...BOTH },
    filter_profanity: { ...FLAG, ...BOTH },
    remove_disfluencies: { ...FLAG, ...BOTH },
    skip_postprocessing: { ...FLAG, ...BOTH },
    delete_after_seconds: { takes: [0, 2_592_000], refuses: [-1, 2_592_001], ...BOTH },
    max_segment_duration_seconds: { takes: [5, 60], refuses: [4, 61], ...LIVE },
    priority: { takes: ['speed', 'accuracy'], refuses: ['both'], ...LIVE },
    diarization_type: { takes: ['standard', 'premium'], refuses: ['best'], ...BATCH },
    speakers_count: { takes: [1, 100], refuses: [0, 101], ...BATCH },
    custom_vocabularies: {
      takes: [[{ phrases: ['Voxgate'] }]],
      refuses: [[], [{ phrases: [] }], ['Voxgate'], [{ phrases: [''] }]],
      ...BATCH,
    },
  },
};
