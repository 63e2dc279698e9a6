// Speechmatics: what its service says and what that must become, for the suite of every provider.
import { inRegion, socketAt } from '../../suites/provider/requests.ts';
import { testProvider } from '../../suites/provider.suite.ts';
import { files } from './files.ts';
import { options } from './options.ts';
import { stories } from './sessions.ts';

const start = (sample_rate: number, config: object = {}) => ({
  message: 'StartRecognition',
  audio_format: { type: 'raw', encoding: 'pcm_s16le', sample_rate },
  transcription_config: {
    ...{ language: 'en', model: 'enhanced', enable_partials: true, max_delay: 1 },
    conversation_config: { end_of_utterance_silence_trigger: 0.5 },
    ...config,
  },
});
const said = (detail: string) => ({ code: 1, error: 'Refused', detail });

testProvider({
  provider: 'speechmatics',
  options,
  live: {
    model: 'enhanced',
    sampleRate: 16_000,
    openings: [
      [{}, socketAt('wss://eu.rt.speechmatics.com/v2'), [start(16_000)]],
      [
        {
          sampleRate: 8_000,
          language: 'en-US',
          access: inRegion('us'),
        },
        socketAt('wss://us.rt.speechmatics.com/v2'),
        [start(8_000, { output_locale: 'en-US' })],
      ],
    ],
    asked: (_, [hello]) => (hello as ReturnType<typeof start>).transcription_config,
    written: (value) => value,
    requests: [
      [{ language: 'auto' }, {}],
      [{ language: 'fr-CA' }, { language: 'fr' }],
      [{ language: 'nb' }, { language: 'no' }],
      [{ language: 'en-GB', params: { output_locale: 'en-AU' } }, { output_locale: 'en-AU' }],
      [{ diarization: true }, { diarization: 'speaker' }],
      [{ params: { max_speakers: 3 } }, { diarization: 'speaker', speaker_diarization_config: { max_speakers: 3 } }],
      [{ params: { unheard_of: 1, constructor: 1 } }, {}],
    ],
    timings: [
      [
        {},
        { unconfirmedMax: 100, readyMs: 5_000, turnPauseMs: 500, sessionMaxMs: 172_800_000, keepAliveMs: undefined },
      ],
      [
        { params: { additional_vocab: ['a'], end_of_utterance_silence_trigger: 0.8 } },
        { readyMs: 16_000, turnPauseMs: 800 },
      ],
    ],
    stories,
    closes: [
      [1003, 'protocol_error', 'next close_1003'],
      [1008, 'session_timeout', 'retry close_1008'],
      [1011, 'internal_error', 'retry close_1011'],
      [4001, '', 'account close_4001'],
      [4003, '', 'account close_4003'],
      [4004, '', 'caller close_4004'],
      [4005, '', 'next close_4005'],
      [4006, '', 'account close_4006'],
      [4013, '', 'retry close_4013'],
    ],
  },
  batch: files,
  refusals: [
    [400, said('`max_delay` is too large'), 'caller http_400', { message: /max_delay/ }],
    [401, said('Permission Denied'), 'account http_401'],
    [403, { error: 'Forbidden' }, 'account http_403'],
    [404, said('Path not found'), 'next http_404'],
    [409, '', 'next http_409'],
    [410, said('Job Expired'), 'next http_410'],
    [423, said('Job Locked'), 'next http_423'],
    [429, said('Rate Limited'), 'next http_429'],
  ],
  simulated: {
    whole: [
      ['enhanced', [], { end_of_utterance_silence_trigger: 0.3, enable_entities: false }, 3],
      ['enhanced', ['empty-slices']],
      ['enhanced', ['swallow-force']],
      ['enhanced', ['late-start=4000'], {}, 3],
      ['enhanced', ['read-speed=1']],
    ],
    ends: [
      ['enhanced', ['no-audio-added'], 30, 'next audio_unconfirmed'],
      ['enhanced', ['duration-limit=1'], 3, 'account duration_limit_exceeded'],
      ['enhanced', ['error-type=job_error'], 1, 'retry job_error'],
      ['enhanced', ['late-start=6000'], 1, 'next ready_timeout'],
    ],
  },
});
