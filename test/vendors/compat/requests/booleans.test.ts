// Booleans as other vendors' clients write them: in a query, a form or JSON, of Python or of a shell, each is read in the same way.
import { describe, expect, it } from 'vitest';
import { ApiError } from '../../../../src/api/errors.ts';
import { parametersFor } from '../../../../src/compat/parameters.ts';
import { readFields } from '../../../../src/files/routes/form.ts';
import { readListenQuery } from '../../../../src/live/socket/query.ts';
import { assemblyai } from '../../../../src/vendors/assemblyai/compat/index.ts';
import type { ClientRequest, Conversation, Dialect, FormEndpoint } from '../../../../src/vendors/compat/dialect.ts';
import { deepgram } from '../../../../src/vendors/deepgram/compat/index.ts';
import { elevenlabs } from '../../../../src/vendors/elevenlabs/compat/index.ts';
import { gladia } from '../../../../src/vendors/gladia/compat/index.ts';
import { livekit } from '../../../../src/vendors/livekit/index.ts';
import { soniox } from '../../../../src/vendors/soniox/compat/index.ts';
import { speechmatics } from '../../../../src/vendors/speechmatics/compat/index.ts';
import { vercel } from '../../../../src/vendors/vercel/index.ts';

const ON = ['true', 'True', 'TRUE', '1', 'on', 'On', 'yes', 'YES'];
const OFF = ['false', 'False', 'FALSE', '0', 'off', 'no', 'No'];
const NEITHER = ['maybe', '2', 'tru', 'null', 'None', '-1', ' true'];
const FILE = `${'/compat/assemblyai/v2/upload'}/00000000-0000-4000-8000-000000000000`;

const handshake = (query: Record<string, unknown> = {}) => ({
  query: new URLSearchParams(query as Record<string, string>),
  headers: new Map<string, string>([['ai-model-id', 'deepgram/nova-3']]),
  requestId: 'req_1',
});
const asked = (dialect: Dialect, request: ClientRequest | undefined): Record<string, string> =>
  Object.fromEntries(parametersFor(dialect, request as ClientRequest, {}));

/** What the first message of a conversation asks for. Throws its refusal. */
function startOf(dialect: Dialect, path: string, message: object): Record<string, string> {
  const conversation = dialect.live[path]?.open(handshake()) as Conversation;
  for (const step of conversation.text(JSON.stringify(message))) {
    if (step.type === 'refuse') throw step.refusal;
    if (step.type === 'start') return asked(dialect, step.request);
  }
  throw new Error('Nothing was asked for.');
}
const live = (dialect: Dialect, path: string, query: Record<string, unknown>) =>
  asked(dialect, dialect.live[path]?.open(handshake(query)).request);
const job = (dialect: Dialect, path: string, body: object) => {
  const endpoint = dialect.jobs?.[path];
  if (endpoint?.does !== 'ask') throw new Error(`Nothing is asked for at ${path}.`);
  return asked(dialect, endpoint.open(body as never, handshake()));
};
const raw = { encoding: 'linear16', sample_rate: '16000' };
const pcm = { audio_format: 'pcm_s16le', sample_rate: 16_000, num_channels: 1 };

const form = elevenlabs.forms?.['/v1/speech-to-text'] as FormEndpoint;

type Read = (value: unknown) => Record<string, unknown>;
const shared = (name: string) => ({ [name]: 'true' });
const own = (member: object) => ({ provider_params: expect.stringContaining(JSON.stringify(member).slice(1, -1)) });

/** Each parameter: how it is sent, its name, and what comes of `true` and of `false`. */
const PARAMETERS: [where: string, name: string, read: Read, on: object, off: object | undefined][] = [
  [
    'Deepgram’s query',
    'diarize',
    (diarize) => live(deepgram, '/v1/listen', { ...raw, diarize }),
    shared('diarization'),
    undefined,
  ],
  [
    'Deepgram’s query',
    'interim_results',
    (value) => live(deepgram, '/v1/listen', { ...raw, interim_results: value }),
    { interim_results: 'true' },
    { interim_results: 'false' },
  ],
  [
    'Deepgram’s query',
    'punctuate',
    (punctuate) => live(deepgram, '/v1/listen', { ...raw, punctuate }),
    own({ punctuate: true }),
    own({ punctuate: false }),
  ],
  [
    'Deepgram’s query',
    'multichannel',
    (multichannel) => live(deepgram, '/v1/listen', { ...raw, multichannel }),
    { channels: '1' },
    undefined,
  ],
  [
    'Flux’ query',
    'mip_opt_out',
    (value) => live(deepgram, '/v2/listen', { ...raw, model: 'flux-general-en', mip_opt_out: value }),
    own({ mip_opt_out: true }),
    own({ mip_opt_out: false }),
  ],
  [
    'Deepgram’s file',
    'diarize',
    (diarize) => asked(deepgram, deepgram.files['/v1/listen']?.open(handshake({ diarize }))),
    shared('diarization'),
    undefined,
  ],
  [
    'AssemblyAI’s query',
    'language_detection',
    (value) => live(assemblyai, '/v3/ws', { language_detection: value }),
    { language: 'auto' },
    undefined,
  ],
  [
    'AssemblyAI’s query',
    'speaker_labels',
    (value) => live(assemblyai, '/v3/ws', { speaker_labels: value }),
    shared('diarization'),
    undefined,
  ],
  [
    'AssemblyAI’s query',
    'format_turns',
    (value) => live(assemblyai, '/v3/ws', { format_turns: value }),
    own({ format_turns: true }),
    own({ format_turns: false }),
  ],
  [
    'AssemblyAI’s file',
    'language_detection',
    (value) => job(assemblyai, 'POST /v2/transcript', { audio_url: FILE, language_detection: value }),
    { language: 'auto' },
    undefined,
  ],
  [
    'AssemblyAI’s file',
    'speaker_labels',
    (value) => job(assemblyai, 'POST /v2/transcript', { audio_url: FILE, speaker_labels: value }),
    shared('diarization'),
    undefined,
  ],
  [
    'AssemblyAI’s file',
    'disfluencies',
    (value) => job(assemblyai, 'POST /v2/transcript', { audio_url: FILE, disfluencies: value }),
    own({ disfluencies: true }),
    own({ disfluencies: false }),
  ],
  [
    'ElevenLabs’ query',
    'enable_logging',
    (value) => live(elevenlabs, '/v1/speech-to-text/realtime', { enable_logging: value }),
    own({ enable_logging: true }),
    { retention: 'none' },
  ],
  [
    'ElevenLabs’ query',
    'include_timestamps',
    (value) => live(elevenlabs, '/v1/speech-to-text/realtime', { include_timestamps: value }),
    {},
    {},
  ],
  [
    'ElevenLabs’ form',
    'diarize',
    (value) => asked(elevenlabs, form.open([['diarize', String(value)]], handshake())),
    shared('diarization'),
    undefined,
  ],
  [
    'ElevenLabs’ form',
    'tag_audio_events',
    (value) => asked(elevenlabs, form.open([['tag_audio_events', String(value)]], handshake())),
    own({ tag_audio_events: true }),
    own({ tag_audio_events: false }),
  ],
  [
    'Gladia’s call',
    'messages_config.receive_partial_transcripts',
    (value) =>
      asked(
        gladia,
        gladia.calls?.['/v2/live']?.open(handshake(), { messages_config: { receive_partial_transcripts: value } })
          .request,
      ),
    { interim_results: 'true' },
    { interim_results: 'false' },
  ],
  [
    'Gladia’s file',
    'diarization',
    (diarization) =>
      job(gladia, 'POST /v2/pre-recorded', {
        audio_url: FILE.replace('assemblyai/v2/upload', 'gladia/file'),
        diarization,
      }),
    shared('diarization'),
    undefined,
  ],
  [
    'Soniox’ start',
    'enable_speaker_diarization',
    (value) => startOf(soniox, '/transcribe-websocket', { ...pcm, enable_speaker_diarization: value }),
    shared('diarization'),
    undefined,
  ],
  [
    'Soniox’ start',
    'enable_endpoint_detection',
    (value) => startOf(soniox, '/transcribe-websocket', { ...pcm, enable_endpoint_detection: value }),
    {},
    {},
  ],
  [
    'Speechmatics’ start',
    'enable_partials',
    (value) =>
      startOf(speechmatics, '/v2', {
        message: 'StartRecognition',
        audio_format: { type: 'file' },
        transcription_config: { language: 'en', enable_partials: value },
      }),
    { interim_results: 'true' },
    { interim_results: 'false' },
  ],
  [
    'LiveKit’s start',
    'settings.extra.diarize',
    (diarize) =>
      startOf(livekit, '/v1/stt', {
        type: 'session.create',
        model: 'deepgram/nova-3',
        settings: { sample_rate: '16000', extra: { diarize } },
      }),
    shared('diarization'),
    undefined,
  ],
  [
    'the AI SDK’s options',
    'speaker_labels',
    (value) =>
      asked(
        vercel,
        vercel.jsonFiles?.['/v4/ai/transcription-model']?.open(
          { providerOptions: { deepgram: { speakerLabels: value } } },
          handshake(),
        ),
      ),
    shared('diarization'),
    undefined,
  ],
  [
    '/v1/listen',
    'diarization',
    (value) =>
      readListenQuery(
        new Map([
          ['model', 'a/b'],
          ['diarization', String(value)],
        ]),
      ) as never,
    { diarization: true },
    { diarization: false },
  ],
  [
    '/v1/audio/transcriptions',
    'strict',
    (value) =>
      readFields([
        ['model', 'a/b'],
        ['strict', String(value)],
      ]) as never,
    { strict: true },
    { strict: false },
  ],
];

describe.each(PARAMETERS)('%s: %s', (_, name, read, on, off) => {
  it.each(ON)('turns on with %s', (value) => expect(read(value)).toMatchObject(on));

  it.each(OFF)('turns off with %s', (value) => {
    if (off === undefined) for (const each of Object.keys(on)) expect(read(value)).not.toHaveProperty(each);
    else expect(read(value)).toMatchObject(off);
  });

  it.each(NEITHER)('fails with %s, and names itself and the accepted values', (value) => {
    try {
      read(value);
    } catch (error) {
      expect(error).toBeInstanceOf(ApiError);
      const { code, message, extras } = error as ApiError;
      expect([code, extras.param]).toEqual(['invalid_request', name]);
      expect(message).toMatch(
        /^`\S+` is ".*"\. Send true or false; 1 and 0, yes and no, on and off are accepted too\.$/,
      );
      return;
    }
    expect.fail('It was taken.');
  });
});

describe('JSON has booleans and numbers as well', () => {
  it.each([
    [true, 'auto'],
    [1, 'auto'],
    [false, undefined],
    [0, undefined],
    [null, undefined],
    ['', undefined],
  ])('%j', (language_detection, language) => {
    const { language: heard } = job(assemblyai, 'POST /v2/transcript', { audio_url: FILE, language_detection });
    expect(heard).toBe(language);
  });
});

describe('a parameter that is a boolean or something else', () => {
  it.each([
    [{ detect_language: 'True' }, { language: 'auto' }],
    [{ detect_language: 'en' }, { language: 'auto' }],
    [{ redact: 'True' }, { redact: '["numbers"]' }],
    [{ redact: 'pci' }, { redact: '["pci"]' }],
    [{ endpointing: 'False' }, own({ endpointing: false })],
    [{ endpointing: '10' }, own({ endpointing: 10 })],
  ])('%j', (query, parameters) => expect(live(deepgram, '/v1/listen', { ...raw, ...query })).toMatchObject(parameters));

  it('stays out where it is off', () => {
    const parameters = live(deepgram, '/v1/listen', { ...raw, detect_language: 'False', redact: '0' });
    for (const name of ['language', 'redact']) expect(parameters).not.toHaveProperty(name);
  });
});

describe('an option that is not served', () => {
  it('may be declined in any spelling', () => {
    for (const value of OFF) {
      form.open([['webhook', value]], handshake());
      job(assemblyai, 'POST /v2/transcript', { audio_url: FILE, auto_chapters: value });
      const conversation = deepgram.live['/v1/listen']?.open(handshake({ ...raw, measurements: value }));
      expect(conversation?.request?.unmet).toEqual([]);
    }
    expect(() => form.open([['webhook', 'True']], handshake())).toThrow('`webhook` is not served');
  });
});
