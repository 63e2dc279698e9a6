// AssemblyAI's options: what each takes, and where it is honoured.
import type { OptionFixtures } from '../../suites/provider/fixtures.ts';

const U3 = ['u3-rt-pro', 'universal-3-5-pro', 'universal-3-6-pro'];
const FORMATTED = ['universal-streaming-english', 'whisper-rt'];
const DETECTING = ['universal-streaming-multilingual', ...U3, 'whisper-rt'];
const LIVE = ['universal-streaming-english', ...DETECTING];
const BATCH = ['universal-3-5-pro', 'universal-2'];
const BOTH = { live: LIVE, batch: BATCH };

const FLAG = { takes: [true, false], refuses: ['yes', 1] };
/** What is not asked for is left out. */
const WISH = { takes: [true], refuses: ['yes', 1] };
const FRACTION = { takes: [0, 1], refuses: [-0.1, 1.1] };
const silence = { takes: [0, 60_000], refuses: [-1, 60_001, 0.5] };
const place = { takes: [0, 36_000_000], refuses: [-1, 36_000_001] };
const terms = (count: number) => Array.from({ length: count }, (_, index) => `term ${index}`);

export const options: OptionFixtures = {
  rows: {
    end_of_turn_confidence_threshold: {
      ...FRACTION,
      live: ['universal-streaming-english', 'universal-streaming-multilingual', 'whisper-rt'],
    },
    min_turn_silence: { ...silence, live: LIVE },
    max_turn_silence: { ...silence, live: LIVE },
    vad_threshold: { ...FRACTION, live: LIVE },
    format_turns: { ...FLAG, live: FORMATTED },
    continuous_partials: { ...FLAG, live: U3 },
    interruption_delay: { takes: [0, 1_000], refuses: [1_001], live: U3 },
    inactivity_timeout: { takes: [5, 3_600], refuses: [4, 3_601], live: LIVE },
    prompt: { takes: ['a&b'], refuses: ['x'.repeat(4_001)], live: U3, batch: ['universal-3-5-pro'] },
    agent_context: { takes: ['ü'], refuses: ['x'.repeat(1_501)], live: U3 },
    mode: { takes: ['min_latency', 'balanced', 'max_accuracy'], refuses: ['fast'], live: U3 },
    language_detection: { ...WISH, live: DETECTING, batch: BATCH },
    language_codes: { takes: [['en', 'es']], refuses: [[], ['EN'], 'en'], live: U3.slice(1) },
    domain: { takes: ['medical-v1'], refuses: ['law'], live: LIVE },
    voice_focus: { takes: ['near-field', 'far-field'], refuses: ['far'], live: U3 },
    filter_profanity: { ...FLAG, ...BOTH },
    speaker_labels: { ...WISH, ...BOTH },
    max_speakers: { takes: [1, 10], refuses: [0, 11], live: LIVE },
    redact_pii: { ...FLAG, ...BOTH },
    redact_pii_policies: { takes: [['person_name', 'email_address']], refuses: [[], ['A']], ...BOTH },
    redact_pii_sub: { takes: ['hash', 'entity_name'], refuses: ['star'], ...BOTH },
    keyterms_prompt: { takes: [['a b', 'ü'], terms(100)], refuses: [terms(201), []], ...BOTH },
    speech_models: { takes: [['universal-2']], refuses: [[], ['nano']], batch: ['universal-3-5-pro'] },
    speakers_expected: { takes: [1, 100], refuses: [0], batch: BATCH },
    multichannel: { ...FLAG, batch: BATCH },
    disfluencies: { ...FLAG, batch: BATCH },
    custom_spelling: {
      takes: [[{ from: ['vox gate'], to: 'Voxgate' }]],
      refuses: [[{ from: [], to: 'Voxgate' }]],
      batch: ['universal-2'],
    },
    audio_start_from: { ...place, batch: BATCH },
    audio_end_at: { ...place, batch: BATCH },
    punctuate: { ...FLAG, batch: BATCH },
    format_text: { ...FLAG, batch: BATCH },
  },
  // Key terms are bounded by what the model's smaller mode takes.
  checks: [
    ['universal-3-5-pro', { keyterms_prompt: terms(101) }, false],
    ['universal-2', { keyterms_prompt: terms(200) }, true],
    ['universal-2', { redact_pii: true, redact_pii_policies: ['person_name'], redact_pii_sub: 'hash' }, true],
    ['whisper-rt', {}, true],
  ],
};
