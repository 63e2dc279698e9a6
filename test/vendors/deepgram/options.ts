// Deepgram's options: what each takes, and where it is honoured.
import type { OptionFixtures } from '../../suites/provider/fixtures.ts';

const NOVA_2 = [
  'nova-2',
  ...['meeting', 'phonecall', 'finance', 'conversationalai', 'voicemail', 'video', 'medical', 'drivethru'].map(
    (use) => `nova-2-${use}`,
  ),
  'nova-2-automotive',
];
const NOVA = ['nova-3', ...NOVA_2];
const FLUX = ['flux-general-en', 'flux-general-multi'];
const LIVE = [...NOVA, ...FLUX];
const FLAG = { takes: [true, false], refuses: ['yes'] };
const terms = (count: number) => Array.from({ length: count }, (_, index) => `term ${index}`);

export const options: OptionFixtures = {
  rows: {
    smart_format: { ...FLAG, live: NOVA, batch: NOVA },
    punctuate: { ...FLAG, live: NOVA, batch: NOVA },
    numerals: { ...FLAG, live: LIVE, batch: NOVA },
    profanity_filter: { ...FLAG, live: LIVE, batch: NOVA },
    dictation: { ...FLAG, live: NOVA, batch: NOVA },
    filler_words: { ...FLAG, live: NOVA, batch: NOVA },
    mip_opt_out: { ...FLAG, live: LIVE, batch: NOVA },
    endpointing: { takes: [false, 0, 10_000], refuses: [true, 10_001, 0.5], live: NOVA },
    utterance_end_ms: { takes: [1_000, 5_000], refuses: [999, 5_001], live: NOVA },
    vad_events: { ...FLAG, live: NOVA },
    no_delay: { ...FLAG, live: NOVA },
    diarize_model: { takes: ['latest', 'v1', 'v2'], refuses: ['v3'], live: NOVA, batch: NOVA },
    redact: { takes: [['numbers', 'aggressive_numbers']], refuses: ['numbers', ['']], live: LIVE, batch: NOVA },
    keyterm: {
      takes: [['Voxgate', 'two words'], terms(100)],
      refuses: [terms(101), 'x'],
      live: ['nova-3', ...FLUX],
      batch: ['nova-3'],
    },
    multichannel: { ...FLAG, batch: NOVA },
    eot_threshold: { takes: [0.5, 1], refuses: [0.4, 1.1], live: FLUX },
    eager_eot_threshold: { takes: [0.3, 0.9], refuses: [0.95], live: FLUX },
    eot_timeout_ms: { takes: [500, 60_000], refuses: [499], live: FLUX },
    language_hint: { takes: [['de', 'it']], refuses: ['de', terms(11)], live: ['flux-general-multi'] },
    tag: { takes: [['a', 'b']], refuses: ['a', terms(21)], live: LIVE, batch: NOVA },
    utterances: { ...FLAG, batch: NOVA },
    utt_split: { takes: [0.1, 60], refuses: [0, 61], batch: NOVA },
    detect_language: { takes: [true, ['en', 'de']], refuses: [[], 'en'], batch: NOVA },
    // Known to the provider, of no use here: asked for they would cost money.
    detect_entities: FLAG,
    keywords: { takes: [['x:2']], refuses: ['x:2'], live: NOVA_2, batch: NOVA_2 },
    paragraphs: FLAG,
    summarize: { takes: ['v2'], refuses: [true] },
  },
  checks: [
    ['nova-3', { redact: ['pci'] }, true],
    ['flux-general-en', { redact: ['pci'] }, false],
    ['nova-3', { callback: 'https://example.com' }, false],
  ],
};
