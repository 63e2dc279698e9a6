// `POST /v1/audio/transcriptions`: the form's fields and the answers. Reading the form is the edge's work.
import { type Static, Type } from '@sinclair/typebox';
import { type Candidate, Word } from './listen.ts';

export const ResponseFormat = Type.Union([
  Type.Literal('json'),
  Type.Literal('text'),
  Type.Literal('verbose_json'),
  Type.Literal('srt'),
  Type.Literal('vtt'),
]);
export type ResponseFormat = Static<typeof ResponseFormat>;

/** A checked transcription request, without its file. */
export interface TranscriptionRequest {
  model: string;
  fallbacks: Candidate[];
  responseFormat: ResponseFormat;
  language: string | undefined;
  prompt: string | undefined;
  temperature: number | undefined;
  diarization: boolean;
  timestampGranularities: ('word' | 'segment')[];
  /** Whether the answer may show the times of words. */
  wordTimestamps: boolean;
  providerParams: Record<string, unknown>;
  stream: boolean;
  strict: boolean;
  /** Fields of OpenAI's API that were given and that this gateway cannot map for the model. */
  unmapped: string[];
}

export const Segment = Type.Object({
  id: Type.Integer(),
  start: Type.Number(),
  end: Type.Number(),
  text: Type.String(),
  speaker: Type.Optional(Type.Integer()),
  confidence: Type.Optional(Type.Number()),
});
export type Segment = Static<typeof Segment>;

export const VerboseTranscription = Type.Object({
  text: Type.String(),
  task: Type.Literal('transcribe'),
  language: Type.String(),
  duration: Type.Number({ description: 'Seconds of audio.' }),
  model: Type.String({ description: 'The slug that answered.' }),
  segments: Type.Array(Segment),
  words: Type.Array(Word),
  request_id: Type.String(),
  usage: Type.Object({ seconds: Type.Number(), cost_usd: Type.String(), byok: Type.Boolean() }),
  fallback: Type.Optional(Type.Array(Type.Object({ model: Type.String(), reason: Type.String() }))),
  warnings: Type.Optional(
    Type.Array(Type.Object({ code: Type.String(), message: Type.String(), param: Type.Optional(Type.String()) })),
  ),
});
export type VerboseTranscription = Static<typeof VerboseTranscription>;
