// The scripted provider: what it says and what that must become, for the suite of every provider. The one to copy.
import { socketAt } from '../../suites/provider/requests.ts';
import { closed, FINALIZE, FINISH, KEEP_ALIVE } from '../../suites/provider/story.ts';
import { testProvider } from '../../suites/provider.suite.ts';

const BOTH = ['script', 'numbered'];
const EITHER = { live: BOTH, batch: BOTH };
const start = (model: string, params: object = {}) => ({
  ...{ type: 'start', model, sampleRate: 16_000, interims: true, params },
});
const remote = { baseUrl: 'ws://127.0.0.1:9/loopback', credential: undefined };

testProvider({
  provider: 'loopback',
  options: {
    rows: {
      ready_delay_ms: { takes: [0, 60_000], refuses: [60_001, -1], ...EITHER },
      final_delay_ms: { takes: [0, 60_000], refuses: [60_001, -1], ...EITHER },
      interim_seconds: { takes: [0.05, 60], refuses: [0, 61], ...EITHER },
      fail: {
        takes: [{ how: 'hang' }, { how: 'error', kind: 'caller', at_seconds: 1 }, { how: 'close', code: 4_001 }],
        refuses: [{ how: 'never' }, { how: 'close', code: 999 }, {}],
        ...EITHER,
      },
      turns: {
        takes: [[{ text: '', seconds: 1 }]],
        refuses: [[], [{ text: 'a' }]],
        live: ['script'],
        batch: ['script'],
      },
      turn_seconds: { takes: [0.05, 3_600], refuses: [0], live: ['numbered'], batch: ['numbered'] },
    },
  },
  live: {
    model: 'script',
    sampleRate: 16_000,
    openings: [
      [{}, { kind: 'embedded', engine: 'loopback', query: {} }, [start('script')]],
      [
        { model: 'numbered', access: remote, params: { turn_seconds: 1 } },
        socketAt(remote.baseUrl, {}),
        [start('numbered', { turn_seconds: 1 })],
      ],
    ],
    asked: (_, [hello]) => (hello as { params: Record<string, unknown> }).params,
    written: (value) => value,
    requests: [[{ language: 'fr', diarization: true }, {}]],
    stories: [
      {
        of: 'a script',
        stories: {
          'becomes ready, then sends speech, interims and finals': [
            [{ type: 'ready' }, 'ready'],
            [{ type: 'speech_started', start: 0 }, 'speech 0'],
            [{ type: 'interim', turn: 0, text: 'a', start: 0, end: 1 }, 'partial 0 "a" 0-1'],
            [{ type: 'final', turn: 0, text: 'a b', start: 0, end: 2 }, 'ended 0 "a b" 0-2'],
          ],
          'keeps the text of a final whose numbers cannot be read, and places it behind what was settled': [
            [{ type: 'final', turn: 0, text: 'one', start: 0, end: 1 }, 'ended 0 "one" 0-1'],
            [{ type: 'interim', turn: 1, text: 'two', start: 1, end: 2 }, 'partial 1 "two" 1-2'],
            [
              { type: 'final', turn: -1, text: 'two', start: 1, end: 2 },
              ...['ended 1 "two" 1-2', 'warned place_estimated'],
            ],
            [{ type: 'final', turn: 2, text: 'three', start: Number.POSITIVE_INFINITY, end: 3 }, 'ended 2 "three" 2-3'],
            [{ type: 'final', turn: 3, text: 'four', start: -1, end: 'x' }, 'ended 3 "four" 0-10'],
            [{ type: 'interim', turn: 4, text: 'five', start: 'x', end: 5 }],
            [{ type: 'final', turn: 'x', text: '', start: 4, end: 5 }],
            [{ type: 'final', text: 'five' }, 'ended 4 "five" 10-10'],
          ],
          'takes a close in order for the end only when it was asked to finish': [
            [FINALIZE, KEEP_ALIVE, 'send finalize'],
            [closed(1000), 'failed next close_1000'],
            [FINISH, 'send finish'],
            [closed(1011), 'failed next close_1011'],
            [closed(1000), { type: 'finished' }, 'finished', 'finished'],
          ],
          'knows each of its failures, and takes any other for one that the next candidate may mend': [
            ...['retry', 'next', 'account', 'caller'].map((code) => [
              { type: 'error', code },
              `failed ${code} ${code}`,
            ]),
            [
              { type: 'error', code: 'constructor' },
              { type: 'error' },
              'failed next constructor',
              'failed next unknown',
            ],
          ],
        },
      },
    ],
  },
});
