// The embedded recogniser: what a stream of it says and what that must become, for the suite of every provider.
import { expect } from 'vitest';
import type { Endpoint } from '../../../src/vendors/kit/provider.ts';
import { BUILT_IN_GRAMMARS } from '../../../src/vendors/local/grammars.ts';
import { closed, FINALIZE, FINISH, KEEP_ALIVE, like, type Story } from '../../suites/provider/story.ts';
import { testProvider } from '../../suites/provider.suite.ts';

const GRAMMARS = ['commands-en', 'digits-en', 'commands-fr'];
const ALIGNING = ['align-en', 'align-fr'];
const isAligning = (model: string) => ALIGNING.includes(model);

const asking = (language: string, task: object, interims = true): Endpoint => ({
  ...{ kind: 'embedded', engine: 'local', query: { language, task, interims } },
});
const builtIn = (model: string) => ({ kind: 'grammar', text: BUILT_IN_GRAMMARS.get(model), builtIn: true });

const words = [{ word: 'yes', start: 1, end: 1.5, confidence: 0.9 }];
const DICTATION = expect.stringMatching(/`local\/dictation-en`.*\/docs\/guides\/first-transcription/);
const dictating = (settings: object = {}): Endpoint => {
  const task = { kind: 'dictation', model: 'dictation-en', endpointingMs: 350, language: undefined, ...settings };
  return { kind: 'embedded', engine: 'local', query: { task, interims: true } };
};
const error = (code: string) => ({ type: 'error', code, message: 'The sentence.' });

const STORIES: Readonly<Record<string, Story>> = {
  'becomes ready, then sends speech, interims and finals': [
    [{ type: 'ready' }, 'ready'],
    [{ type: 'speech_started', start: 1 }, 'speech 1'],
    [{ type: 'interim', turn: 3, text: 'yes', start: 1, end: 1.5 }, 'partial 3 "yes" 1-1.5 en'],
    [
      { type: 'final', turn: 3, text: 'yes', start: 1, end: 1.5, confidence: 0.9, words },
      'ended 3 "yes" 1-1.5 en @0.9 (yes 1-1.5 @0.9)',
    ],
    [{ type: 'warning', code: 'recogniser_slowed', message: 'Slower.' }, 'warned recogniser_slowed'],
  ],
  'says what open dictation takes where what was said hardly fits, or fits nothing': [
    [
      { type: 'no_match', turn: 0, start: 2, end: 2.5 },
      'ended 0 "" 2-2.5',
      like({ type: 'warned', code: 'no_open_dictation', once: true, message: DICTATION }),
    ],
    [
      { type: 'final', turn: 1, text: 'yes', start: 3, end: 3.5, confidence: 0.49, words },
      'ended 1 "yes" 3-3.5 en',
      'warned no_open_dictation',
    ],
    [{ type: 'final', turn: 2, text: 'yes', start: 4, end: 4.5, confidence: 0.5, words }, 'ended 2 "yes" 4-4.5 en'],
  ],
  'ends a turn by a command, and needs nothing to be kept': [[FINALIZE, KEEP_ALIVE, 'send finalize']],
  'says once that times of words are estimated': [
    [
      {
        type: 'final',
        turn: 0,
        text: 'Yes.',
        start: 1,
        end: 1.5,
        words: [{ word: 'Yes.', start: 1, end: 1.5 }],
        estimated: true,
      },
      'ended 0 "Yes." 1-1.5 en (Yes. 1-1.5)',
      like({ type: 'warned', code: 'words_estimated', once: true }),
    ],
  ],
  'closed in order after finish is the end; anything else is tried again': [
    [FINISH, 'send finish'],
    [closed(1011), 'failed retry close_1011'],
    [closed(1000), { type: 'finished' }, 'finished', 'finished'],
  ],
  'says the caller’s fault in the words of the recogniser, and others in its own': [
    ...['invalid_query', 'invalid_grammar', 'invalid_align_text'].map((code) => [
      error(code),
      like({ failure: { kind: 'caller', code, message: 'The sentence.' } }),
    ]),
    [error('recogniser_overloaded'), 'failed next recogniser_overloaded'],
    [error('model_unavailable'), 'failed next model_unavailable'],
    [error('recogniser_queue_full'), 'failed next recogniser_queue_full'],
    [error('recogniser_failed'), like({ failure: { kind: 'retry', message: 'The embedded recogniser failed.' } })],
    // It says nothing of how the model serves others.
    [error('recogniser_share_used'), like({ failure: { own: true } })],
    [error('new'), 'failed retry new'],
  ],
};

testProvider({
  provider: 'local',
  options: {
    needed: (model) => (isAligning(model) ? { align_text: 'yes' } : {}),
    rows: {
      grammar: { takes: ['#JSGF …'], refuses: ['', 1], live: GRAMMARS, batch: GRAMMARS },
      endpointing: {
        takes: [250, 5_000],
        refuses: [249, 5_001, 'soon'],
        live: ['dictation-en'],
        batch: ['dictation-en'],
      },
      align_text: { takes: ['yes', 'no'], refuses: ['', 1], live: ALIGNING, batch: ALIGNING },
    },
  },
  live: {
    model: 'commands-en',
    sampleRate: 16_000,
    openings: [
      [{}, asking('en', builtIn('commands-en'))],
      [{ model: 'digits-en', interimResults: false }, asking('en', builtIn('digits-en'), false)],
      [{ model: 'commands-fr' }, asking('fr', builtIn('commands-fr'))],
      [{ params: { grammar: '#JSGF …' } }, asking('en', { kind: 'grammar', text: '#JSGF …', builtIn: false })],
      [
        { model: 'align-en', params: { align_text: 'yes' } },
        asking('en', { kind: 'align', text: 'yes', builtIn: false }),
      ],
      [{ model: 'dictation-en' }, dictating()],
      [
        { model: 'dictation-en', language: 'en-GB', params: { endpointing: 300 } },
        dictating({ endpointingMs: 300, language: 'en' }),
      ],
    ],
    asked: (endpoint) => taskOf(endpoint),
    requests: [[{ language: 'fr', diarization: true }, {}]],
    // It paces what it sends, and waits for no end of time.
    timings: [
      [
        {},
        {
          frame: { minMs: 100, idealMs: 100, maxMs: 1_000, tail: 'short' },
          ...{ speedMax: 8, burstMs: 2_000, connectMs: 5_000, readyMs: 20_000, drainMs: 20_000 },
        },
      ],
    ],
    stories: [{ of: 'a stream', stories: STORIES }],
    closes: [
      [1000, '', 'retry close_1000'],
      [1011, '', 'retry close_1011'],
    ],
  },
});

/** What it is to hear, where that is not built in. */
function taskOf(endpoint: Endpoint): Readonly<Record<string, unknown>> {
  const { query } = endpoint as Extract<Endpoint, { kind: 'embedded' }>;
  const { kind, text, builtIn: isOurs, endpointingMs } = query.task as Readonly<Record<string, unknown>>;
  if (kind === 'dictation') return { endpointing: String(endpointingMs) };
  return isOurs === true ? {} : { [kind === 'align' ? 'align_text' : 'grammar']: text };
}
