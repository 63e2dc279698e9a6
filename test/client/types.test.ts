// What the compiler knows of the client: these hold when `tsc` accepts this file; running it shows that it is looked at.
import { expect, expectTypeOf, it } from 'vitest';
import type {
  Answer,
  CreateJobOptions,
  DiarizedTranscription,
  Fallback,
  ListenOptions,
  LiveSession,
  ModelParams,
  ParamsOf,
  SessionEvent,
  TranscribeOptions,
  Transcript,
  Transcription,
  TranscriptionEvent,
  TranscriptionOf,
  VerboseTranscription,
  Voxgate,
} from '../../clients/typescript/src/index.ts';
import { providers } from '../../src/vendors/index.ts';

type Listen<Slug extends string> = ListenOptions<Slug>['providerParams'];

it('types the options of a model by its provider', () => {
  expectTypeOf<ParamsOf<'deepgram/nova-3'>>().toHaveProperty('keyterm');
  expectTypeOf<ParamsOf<'deepgram/nova-3'>>().not.toHaveProperty('format_turns');
  expectTypeOf<ParamsOf<'assemblyai/universal-2'>>().toHaveProperty('format_turns');
  expectTypeOf<{ smart_format: true }>().toExtend<Listen<'deepgram/nova-3'>>();
  expectTypeOf<{ smart_format: 'yes' }>().not.toExtend<Listen<'deepgram/nova-3'>>();
  expectTypeOf<{ endpointing: false }>().toExtend<Listen<'deepgram/nova-3'>>();
  expectTypeOf<{ endpointing: true }>().not.toExtend<Listen<'deepgram/nova-3'>>();
  // One that must be there is asked for.
  expectTypeOf<ParamsOf<'local/align-en'>>().toEqualTypeOf<{ align_text: string }>();
  // A model that is newer than this client has its provider's options.
  expectTypeOf<ParamsOf<'deepgram/nova-9'>>().toEqualTypeOf<
    ParamsOf<'deepgram/nova-3'> | ParamsOf<'deepgram/flux-general-en'>
  >();
  // Whatever an operator calls his own, and a slug that is not known before, take anything.
  expectTypeOf<ParamsOf<'custom/ours'>>().toEqualTypeOf<Record<string, unknown>>();
  expectTypeOf<ParamsOf<string>>().toEqualTypeOf<Record<string, unknown>>();
});

it('calls infer the slug from `model`, and refuse options of another provider', () => {
  type ParamsInferred = (client: Voxgate) => {
    known: LiveSession;
    custom: LiveSession;
  };
  const calls: ParamsInferred = (client) => ({
    known: client.listen({ model: 'openai/whisper-1', providerParams: { turn_detection: { type: 'server_vad' } } }),
    custom: client.listen({ model: 'custom/ours', providerParams: { whatever: [1] }, fallbacks: ['deepgram/nova-3'] }),
  });
  expectTypeOf(calls).toBeFunction();
  expectTypeOf<{ model: 'openai/whisper-1'; providerParams: { prompt: 7 } }>().not.toExtend<
    ListenOptions<'openai/whisper-1'>
  >();
  expectTypeOf<{ model: 'a/b'; sample_rate: number }>().toExtend<{ model: string }>();
});

it('types a fallback by its own model', () => {
  expectTypeOf<'deepgram/nova-3'>().toExtend<Fallback>();
  expectTypeOf<'custom/ours'>().toExtend<Fallback>();
  expectTypeOf<{ model: 'deepgram/nova-3'; providerParams: { numerals: true } }>().toExtend<Fallback>();
});

it('types an answer by its format', () => {
  const formats = (client: Voxgate, file: Blob) => ({
    plain: client.transcribe({ model: 'openai/whisper-1', file }),
    json: client.transcribe({ model: 'openai/whisper-1', file, responseFormat: 'json' }),
    text: client.transcribe({ model: 'openai/whisper-1', file, responseFormat: 'text' }),
    srt: client.transcribe({ model: 'openai/whisper-1', file, responseFormat: 'srt' }),
    verbose: client.transcribe({ model: 'openai/whisper-1', file, responseFormat: 'verbose_json' }),
    diarized: client.transcribe({ model: 'openai/whisper-1', file, responseFormat: 'diarized_json' }),
    stream: client.transcribe({ model: 'openai/whisper-1', file, stream: true }),
  });
  type Answers = ReturnType<typeof formats>;
  expectTypeOf<Answers['plain']>().toEqualTypeOf<Answer<Transcription>>();
  expectTypeOf<Answers['json']>().toEqualTypeOf<Answer<Transcription>>();
  expectTypeOf<Answers['text']>().toEqualTypeOf<Answer<string>>();
  expectTypeOf<Answers['srt']>().toEqualTypeOf<Answer<string>>();
  expectTypeOf<Answers['verbose']>().toEqualTypeOf<Answer<VerboseTranscription>>();
  expectTypeOf<Answers['diarized']>().toEqualTypeOf<Answer<DiarizedTranscription>>();
  expectTypeOf<Answers['stream']>().toEqualTypeOf<Answer<AsyncIterable<TranscriptionEvent>>>();
  expectTypeOf<TranscriptionOf<'vtt'>>().toEqualTypeOf<string>();
  expectTypeOf<'yaml'>().not.toExtend<NonNullable<TranscribeOptions['responseFormat']>>();
});

it('takes a file or an address as the audio, not both', () => {
  type Model = { model: 'openai/whisper-1' };
  expectTypeOf<Model & { file: Blob; fileName: string }>().toExtend<TranscribeOptions>();
  expectTypeOf<Model & { audioUrl: string }>().toExtend<TranscribeOptions>();
  expectTypeOf<Model & { audioUrl: string; retentionSeconds: number }>().toExtend<CreateJobOptions>();
  expectTypeOf<Model>().not.toExtend<TranscribeOptions>();
  expectTypeOf<Model>().not.toExtend<CreateJobOptions>();
  expectTypeOf<Model & { file: Blob; audioUrl: string }>().not.toExtend<TranscribeOptions>();
  expectTypeOf<Model & { audioUrl: string; fileName: string }>().not.toExtend<CreateJobOptions>();
});

it('types the result of a job by its format', () => {
  const results = (client: Voxgate) => ({
    srt: client.jobs.result('id', { format: 'srt' }),
    verbose: client.jobs.result('id', { format: 'verbose_json' }),
  });
  type Results = ReturnType<typeof results>;
  expectTypeOf<Results['srt']>().toEqualTypeOf<Promise<string>>();
  expectTypeOf<Results['verbose']>().toEqualTypeOf<Promise<VerboseTranscription>>();
});

it('narrows an event by its type', () => {
  expectTypeOf<Extract<SessionEvent, { type: 'transcript' }>>().toEqualTypeOf<Transcript>();
  expectTypeOf<Extract<SessionEvent, { type: 'reconnected' }>['replayed_seconds']>().toEqualTypeOf<number>();
  expectTypeOf<SessionEvent['seq']>().toEqualTypeOf<number>();
});

it('knows every model of the catalogue by its slug', () => {
  type Known = keyof ModelParams;
  expectTypeOf<'local/commands-en'>().toExtend<Known>();
  const listed = providers.flatMap(({ models }) => models.map(({ id }) => id));
  expect(listed.length).toBeGreaterThan(10);
});
