// Deepgram: what its service says and what that must become, for the suite of every provider.
import type { RefusalRow } from '../../suites/provider/fixtures.ts';
import { socketAt } from '../../suites/provider/requests.ts';
import { testProvider } from '../../suites/provider.suite.ts';
import { files } from './files.ts';
import { fluxStories } from './flux.ts';
import { novaStories } from './nova.ts';
import { options } from './options.ts';

const headers = { authorization: 'Token key-of-the-suite' };
const modern = (category: string) => ({ category, message: 'their words', details: 'd', request_id: 'x' });
const legacy = (code: string) => ({ err_code: code, err_msg: 'their words', request_id: 'x' });
/** Words about credentials may quote them: the account's owner is told no more than the row says. */
const withoutWords = (words: string) => new RegExp(`^(?!.*their words).*${words}`);

const REFUSALS: readonly RefusalRow[] = [
  [400, legacy('Bad Request'), 'caller http_400', { message: /their words/ }],
  [400, '', 'caller http_400', { message: /no such model/, headers: { 'dg-error': 'no such model' } }],
  [400, 'plain words', 'caller http_400', { message: /plain words/ }],
  // Live audio is encoded by the gateway.
  [400, modern('DATA-0000'), 'next DATA-0000', { file: 'caller audio_unusable' }],
  [400, 'corrupt or unsupported data', 'caller http_400', { file: 'caller audio_unusable' }],
  [401, modern('INVALID_AUTH'), 'account INVALID_AUTH', { message: withoutWords('API key') }],
  [402, modern('ASR_PAYMENT_REQUIRED'), 'account ASR_PAYMENT_REQUIRED', { message: /credit/ }],
  [
    403,
    modern('INSUFFICIENT_PERMISSIONS'),
    'account INSUFFICIENT_PERMISSIONS',
    { message: withoutWords('may not use') },
  ],
  [404, legacy('Not Found'), 'next http_404', { message: /their words/ }],
  [404, '<html>nothing here</html>', 'next http_404', { message: /404\.$/ }],
  [429, modern('TOO_MANY_REQUESTS'), 'next TOO_MANY_REQUESTS', { message: /their words/ }],
  [502, { category: 7, message: [] }, 'retry http_502', { message: /502/ }],
];

testProvider({
  provider: 'deepgram',
  options,
  live: {
    model: 'nova-3',
    sampleRate: 16_000,
    openings: [
      [
        {},
        socketAt(
          'wss://api.deepgram.com/v1/listen?model=nova-3&encoding=linear16&sample_rate=16000&channels=1&interim_results=true&endpointing=300&utterance_end_ms=1000&vad_events=true&smart_format=true',
          headers,
        ),
      ],
      [
        // Nothing but these is known there: an unknown parameter is refused.
        { model: 'flux-general-en', language: 'fr', diarization: true, params: { smart_format: true } },
        socketAt('wss://api.deepgram.com/v2/listen?model=flux-general-en&encoding=linear16&sample_rate=16000', headers),
      ],
    ],
    requests: [
      [{ language: 'auto' }, { language: 'multi' }],
      [{ model: 'nova-2', language: 'pt-BR' }, { language: 'pt-BR' }],
      [{ model: 'nova-2', language: 'gu' }, {}],
      [{ model: 'nova-2-phonecall', language: 'de' }, {}],
      [{ language: 'fr' }, { language: 'fr' }],
      [{ language: 'pt-br' }, { language: 'pt-BR' }],
      [{ language: 'fr-BE' }, { language: 'fr' }],
      [{ language: 'tlh' }, {}],
      [{ diarization: true }, { diarize_model: 'latest' }],
      [
        { diarization: true, params: { diarize_model: 'v1', endpointing: false, unheard_of: 1 } },
        { diarize_model: 'v1', endpointing: 'false' },
      ],
      [{ model: 'flux-general-multi', language: 'fr-CA' }, { language_hint: 'fr' }],
      [{ model: 'flux-general-multi', language: 'auto' }, {}],
      [{ model: 'flux-general-multi', turnEvents: true }, { eager_eot_threshold: '0.5' }],
      [
        { model: 'flux-general-multi', turnEvents: true, params: { eager_eot_threshold: 0.4 } },
        { eager_eot_threshold: '0.4' },
      ],
      [{ model: 'flux-general-multi', language: 'sv' }, {}],
      [
        { model: 'flux-general-multi', language: 'fr', params: { language_hint: ['de', 'it'] } },
        { language_hint: ['de', 'it'] },
      ],
    ],
    timings: [
      [{}, { stallMs: 8_000, keepAliveMs: 4_000 }],
      [{ model: 'flux-general-en' }, { stallMs: 3_000, keepAliveMs: 1_000 }],
      [{}, { turnPauseMs: 300 }],
      [{ params: { endpointing: 2_000 } }, { turnPauseMs: 2_000 }],
      [{ params: { endpointing: false } }, { turnPauseMs: 1_000 }],
      [{ params: { endpointing: false, utterance_end_ms: 3_000 } }, { turnPauseMs: 3_000 }],
      [{ model: 'flux-general-en' }, { turnPauseMs: 800 }],
      [{ model: 'flux-general-en', params: { eot_timeout_ms: 500 } }, { turnPauseMs: 500 }],
    ],
    stories: [...novaStories, ...fluxStories],
    closes: [
      [1008, 'DATA-0000: cannot decode', 'next DATA-0000'],
      [1002, 'DATA-0000', 'next DATA-0000'],
      [1008, '', 'next close_1008'],
      [1009, '', 'next close_1009'],
      [1011, 'NET-0000', 'retry NET-0000'],
      [1011, 'within the timeout window. See https://dpgr.am/net0001', 'retry NET-0001'],
      [1000, 'bye', 'retry close_1000'],
      [4242, 'toString', 'retry close_4242'],
    ],
  },
  batch: files,
  refusals: REFUSALS,
  simulated: {
    whole: [
      ['nova-3', ['late-speech-final'], {}, 3],
      ['nova-3', ['utterance-end-only'], {}, 3],
      ['nova-3', ['slow-results'], {}, 3],
      ['nova-3', ['late-utterance-end'], {}, 3],
      ['nova-3', [], { endpointing: false, utterance_end_ms: 1_000 }, 1],
      ['nova-3', ['swallow-finalize']],
    ],
    ends: [
      ['nova-3', ['error-after=0ms'], 1, 'retry NET-0000'],
      ['nova-3', ['close-after=1s:1011'], 3, 'retry close_1011'],
      ['nova-3', ['error-message'], 3, 'next UNKNOWN'],
      ['flux-general-en', ['close-after=1s:1008'], 3, 'next close_1008'],
      // Without Metadata a turn that is over is one, and one that is not is heard again.
      ['nova-3', ['no-metadata'], 2, 'finished'],
      ['nova-3', ['no-metadata'], 3, 'retry final_missing'],
      ['nova-3', ['swallow-finalize'], 3, 'finished'],
      ['flux-general-en', ['no-force-end-turn'], 3, 'next UNPARSABLE_CLIENT_MESSAGE'],
    ],
  },
});
