// OpenAI's options: what each takes, and where it is honoured.
import type { OptionFixtures } from '../../suites/provider/fixtures.ts';

const FOUR_O = ['gpt-4o-transcribe', 'gpt-4o-mini-transcribe'];
const SERVER_TURNS = ['gpt-transcribe', ...FOUR_O, 'whisper-1'];
const HINTED = ['gpt-live-transcribe', 'gpt-transcribe'];
const DIARIZING = ['gpt-4o-transcribe-diarize'];
const many = (count: number) => Array.from({ length: count }, (_, index) => `${index}`);

export const options: OptionFixtures = {
  rows: {
    turn_detection: {
      takes: [
        null,
        { type: 'server_vad', threshold: 0.7, silence_duration_ms: 200, prefix_padding_ms: 0 },
        { type: 'semantic_vad', eagerness: 'auto' },
      ],
      refuses: [{ type: 'server_vad', threshold: 1.1 }, { type: 'none' }],
      live: SERVER_TURNS,
    },
    noise_reduction: {
      takes: ['near_field', 'far_field'],
      refuses: ['field'],
      live: ['gpt-live-transcribe', 'gpt-realtime-whisper', ...SERVER_TURNS],
    },
    delay: { takes: ['minimal', 'xhigh'], refuses: ['never'], live: ['gpt-live-transcribe', 'gpt-realtime-whisper'] },
    prompt: {
      takes: ['mine'],
      refuses: ['x'.repeat(8_193)],
      live: ['gpt-live-transcribe', ...SERVER_TURNS],
      batch: SERVER_TURNS,
    },
    languages: { takes: [['en', 'yue']], refuses: [['english'], []], live: HINTED, batch: ['gpt-transcribe'] },
    keywords: { takes: [['Voxgate', 'b']], refuses: [[], many(501)], live: HINTED, batch: ['gpt-transcribe'] },
    temperature: { takes: [0, 1], refuses: [1.5], batch: [...SERVER_TURNS.slice(0, 3), ...DIARIZING, 'whisper-1'] },
    timestamp_granularities: { takes: [['word']], refuses: [['line']], batch: ['whisper-1'] },
    chunking_strategy: {
      takes: ['auto', { type: 'server_vad' }, { type: 'server_vad', threshold: 0.4 }],
      refuses: ['none', { type: 'semantic_vad' }],
      batch: [...FOUR_O, ...DIARIZING],
    },
    known_speaker_names: { takes: [['Ann', 'Bob']], refuses: [many(5)], batch: DIARIZING },
    known_speaker_references: {
      takes: [['data:audio/wav;base64,AA==']],
      refuses: [['https://example.org']],
      batch: DIARIZING,
    },
    include: { takes: [['logprobs']], refuses: [['words']], batch: FOUR_O },
  },
};
