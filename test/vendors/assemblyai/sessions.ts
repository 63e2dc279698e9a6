// What AssemblyAI says of a session beside its turns, and what a leg makes of it.
import type { StoryGroup } from '../../suites/provider/fixtures.ts';
import { closed, FINALIZE, FINISH, KEEP_ALIVE, LEAVE, like } from '../../suites/provider/story.ts';
import { turn, words } from './turns.ts';

const error = (text: string, error_code?: number) => ({ type: 'Error', error: text, error_code });
const TOO_MANY = 'Unauthorized Connection: Too many concurrent sessions';
const FINISHED = [FINISH, 'send ForceEndpoint', 'send Terminate'];

const STORIES: StoryGroup['stories'] = {
  'is ready with `Begin`': [[{ type: 'Begin', id: 'session-1', expires_at: 1 }, 'ready']],
  'reports the applied model where it is not the requested one': [
    [{ type: 'Begin', configuration: { model: 'universal-streaming-english' } }, 'ready'],
    [
      { type: 'Begin', configuration: { model: 'universal-3-6-pro' } },
      'ready',
      like({
        ...{ type: 'warned', code: 'other_model' },
        message: 'AssemblyAI was asked for the model universal-streaming-english and uses another: universal-3-6-pro',
      }),
    ],
  ],
  'reports when speech started, within the audio sent': [
    [
      { type: 'SpeechStarted', timestamp: 1_216 },
      { type: 'SpeechStarted', timestamp: 19_000 },
      'speech 1.216',
      'speech 10',
    ],
    [{ type: 'SpeechStarted' }, { type: 'SpeechStarted', timestamp: -1 }],
  ],
  'passes each kind of warning on once': [
    [
      ...[1, 2, 1, 2].map((warning_code) => ({ type: 'Warning', warning_code, warning: 'Slow\ndown' })),
      like({ type: 'warned', code: 'assemblyai_1', message: 'AssemblyAI: Slow down' }),
      'warned assemblyai_2',
    ],
    [{ type: 'Warning', warning: 'x' }, { type: 'Warning' }, 'warned assemblyai_warning'],
  ],
  'passes no more than 16 kinds of warnings on': [
    [
      ...Array.from({ length: 20 }, (_, warning_code) => ({ type: 'Warning', warning_code, warning: 'x' })),
      ...Array.from({ length: 16 }, (_, code) => `warned assemblyai_${code}`),
    ],
  ],
  'makes nothing of messages that are of no use': [
    ['Heartbeat', 'Silence', 'SpeakerRevision', 'LLMGatewayResponse'].map((type) => ({
      type,
      revisions: [],
      start_ms: 0,
    })),
  ],
  'is flushed by `ForceEndpoint`, and ended by that and `Terminate`': [
    [FINALIZE, 'send ForceEndpoint'],
    [KEEP_ALIVE, 'send KeepAlive'],
    FINISHED,
    [LEAVE],
  ],
  'is terminated also when it is released': [[LEAVE, 'send Terminate']],
  'is finished by `Termination` or a regular close after a request to end, even with open turns': [
    [turn({ words: words(['book', 0, 100]) }), 'partial 0 "book" 0-0.1'],
    FINISHED,
    [
      { type: 'Termination', audio_duration_seconds: 1, session_duration_seconds: 2 },
      closed(1000),
      'finished',
      'finished',
    ],
  ],
  'has failed when it is terminated before': [
    [{ type: 'Termination' }, like({ failure: { kind: 'retry', reason: 'upstream_closed', code: 'terminated' } })],
  ],
  'has failed when it is lost while it finishes': [FINISHED, [closed(1006), 'failed retry close_1006']],
  'fails once: the close after an `Error` adds nothing': [
    FINISHED,
    [error(TOO_MANY, 1008), closed(3005, 'Server error'), closed(1000), ...Array(3).fill('failed next 1008')],
  ],
  'has reached its longest duration, or was closed in order: that is a close and no error': [
    [closed(3008), closed(1001), ...Array(2).fill(like({ failure: { reason: 'upstream_closed' } }))],
  ],
};

const FAILURES: StoryGroup['stories'] = {
  'is known by its text where it has no code': [
    [error(TOO_MANY), 'failed next error'],
    [error('Not authorized'), 'failed account error'],
    [error('Input duration violation: 5 ms'), 'failed retry error'],
    [error('Session Expired: Maximum session duration exceeded'), 'failed retry error'],
    [error('Invalid JSON: {'), 'failed caller error'],
    [error('Unauthorized connection: Incorrect padding', 1008), 'failed retry 1008'],
    [error('something else'), error(''), 'failed retry error', 'failed retry error'],
  ],
  'is known by its code; what it quotes is not what went wrong': [
    [error('anything', 3005), 'failed retry 3005'],
    [error('Invalid Message Type: balance', 3006), 'failed caller 3006'],
    [error('constructor', 77), 'failed retry 77'],
  ],
  'is reported with AssemblyAI’s words': [
    [error('a\nb', 3005), like({ failure: { message: 'AssemblyAI had an error of its own. It said: a b' } })],
    [error('', 3005), like({ failure: { message: 'AssemblyAI had an error of its own.' } })],
  ],
};

export const sessionStories: readonly StoryGroup[] = [
  { of: 'a session', stories: STORIES },
  { of: 'an error', stories: FAILURES },
];
