// What is changed on an open connection, provider by provider: what is sent, and which changes need another connection.
import { describe, expect, it } from 'vitest';
import { modelOf, providerOf } from '../../src/api/slug.ts';
import { providers } from '../../src/vendors/index.ts';
import type { LegRequest, LiveCodec, Step } from '../../src/vendors/kit/provider.ts';

type Asked = Partial<Pick<LegRequest, 'language' | 'diarization' | 'turnEvents' | 'params'>>;

const requestOf = (slug: string, asked: Asked): LegRequest => ({
  model: modelOf(slug),
  sampleRate: providerOf(slug) === 'openai' ? 24_000 : 16_000,
  language: undefined,
  interimResults: true,
  diarization: false,
  params: {},
  access: { baseUrl: undefined, credential: 'key' },
  connection: { id: '0'.repeat(32), wallMs: 0 },
  ...asked,
});

function opened(slug: string, before: Asked, finishing = false) {
  const live = providers.find(({ name }) => name === providerOf(slug))?.live?.(modelOf(slug)) as LiveCodec;
  const { state } = live.open(requestOf(slug, before));
  if (finishing) live.finish(state);
  return {
    live,
    state,
    change: (after: Asked): Step[] | undefined =>
      live.reconfigure?.(state, requestOf(slug, before), requestOf(slug, after)),
  };
}

const inForce = { type: 'reconfigured', isInForce: true };
const FLUX = 'deepgram/flux-general-multi';
const SPEECHMATICS = 'speechmatics/enhanced';
const UNIVERSAL = 'assemblyai/universal-3-5-pro';
const WHISPER = 'openai/gpt-4o-transcribe';

describe('a change on the open connection', () => {
  it.each<[slug: string, before: Asked, after: Asked, frame: object, answered: boolean]>([
    [
      FLUX,
      { params: { keyterm: ['gate'] } },
      { params: { keyterm: ['vox'], eot_threshold: 0.8, eot_timeout_ms: 900, numerals: true } },
      {
        type: 'Configure',
        keyterms: ['vox'],
        thresholds: { eot_threshold: 0.8, eot_timeout_ms: 900 },
        numerals: true,
      },
      true,
    ],
    [FLUX, { params: { keyterm: ['gate'] } }, {}, { type: 'Configure', keyterms: [] }, true],
    [FLUX, { params: { numerals: true } }, {}, { type: 'Configure', numerals: false }, true],
    [FLUX, { language: 'de' }, { language: 'fr-FR' }, { type: 'Configure', language_hints: ['fr'] }, true],
    [FLUX, { params: { language_hint: ['de'] } }, {}, { type: 'Configure', language_hints: [] }, true],
    [
      UNIVERSAL,
      { params: { keyterms_prompt: ['gate'], min_turn_silence: 200 } },
      { params: { prompt: 'A call.', min_turn_silence: 300, language_codes: ['en', 'de'] } },
      {
        type: 'UpdateConfiguration',
        keyterms_prompt: [],
        prompt: 'A call.',
        min_turn_silence: 300,
        language_codes: ['en', 'de'],
      },
      false,
    ],
    [
      SPEECHMATICS,
      { language: 'de', params: { max_delay: 2 } },
      { language: 'de', params: { end_of_utterance_silence_trigger: 0.8 } },
      {
        message: 'SetRecognitionConfig',
        transcription_config: {
          language: 'de',
          max_delay: 1,
          conversation_config: { end_of_utterance_silence_trigger: 0.8 },
        },
      },
      false,
    ],
    [
      WHISPER,
      { params: { noise_reduction: 'near_field' } },
      {
        language: 'de',
        params: { prompt: 'A call.', turn_detection: { type: 'server_vad', silence_duration_ms: 300 } },
      },
      {
        type: 'session.update',
        event_id: 'change',
        session: {
          type: 'transcription',
          audio: {
            input: {
              format: { type: 'audio/pcm', rate: 24_000 },
              transcription: { model: 'gpt-4o-transcribe', prompt: 'A call.', language: 'de' },
              turn_detection: { type: 'server_vad', silence_duration_ms: 300 },
              noise_reduction: null,
            },
          },
        },
      },
      true,
    ],
  ])('sends %s from %j to %j', (slug, before, after, frame, isAnswered) => {
    const steps = opened(slug, before).change(after);
    expect(steps).toEqual([{ type: 'send', frame }, ...(isAnswered ? [] : [inForce])]);
  });

  it.each<[slug: string, before: Asked, after: Asked]>([
    [FLUX, {}, { params: { tag: ['one'] } }],
    [FLUX, { params: { eot_threshold: 0.8 } }, {}],
    [FLUX, {}, { params: { redact: ['numbers'] } }],
    ['deepgram/nova-3', {}, { params: { keyterm: ['gate'] } }],
    [UNIVERSAL, { params: { min_turn_silence: 200 } }, {}],
    [UNIVERSAL, {}, { diarization: true }],
    ['assemblyai/universal-streaming-english', {}, { params: { format_turns: true } }],
    [SPEECHMATICS, { language: 'de' }, { language: 'fr' }],
    [SPEECHMATICS, {}, { params: { additional_vocab: ['gate'] } }],
    [WHISPER, { language: 'de' }, {}],
    [WHISPER, {}, { params: { turn_detection: null } }],
    ['soniox/stt-rt-v5', {}, { language: 'de' }],
    ['gladia/solaria-1', {}, { language: 'de' }],
  ])('needs another connection when %s goes from %j to %j', (slug, before, after) =>
    expect(opened(slug, before).change(after)).toBeUndefined(),
  );

  it.each([FLUX, UNIVERSAL, SPEECHMATICS, WHISPER])(
    'needs another connection once %s was sent the end of the audio',
    (slug) => {
      const { change } = opened(slug, {}, true);
      expect(change({ params: { keyterm: ['a'], keyterms_prompt: ['a'], max_delay: 2, prompt: 'a' } })).toBeUndefined();
    },
  );
});

describe('the answer to a change', () => {
  it.each<[slug: string, message: object, isInForce: boolean]>([
    [FLUX, { type: 'ConfigureSuccess', thresholds: {}, keyterms: [] }, true],
    [FLUX, { type: 'ConfigureFailure' }, false],
    [WHISPER, { type: 'session.updated', session: {} }, true],
    [WHISPER, { type: 'error', error: { type: 'invalid_request_error', event_id: 'change', message: 'No.' } }, false],
  ])('says, from %s with %j, whether the change is in force', (slug, message, isInForce) => {
    const { live, state, change } = opened(slug, {});
    for (const type of ['session.created', 'session.updated']) live.read(state, { json: { type } });
    change({ params: { numerals: true, prompt: 'A call.' } });
    expect(live.read(state, { json: message })).toEqual([{ type: 'reconfigured', isInForce }]);
  });

  it('means nothing from OpenAI when no change was requested', () => {
    const { live, state } = opened(WHISPER, {});
    for (const type of ['session.created', 'session.updated']) live.read(state, { json: { type } });
    expect(live.read(state, { json: { type: 'session.updated' } })).toEqual([]);
  });
});
