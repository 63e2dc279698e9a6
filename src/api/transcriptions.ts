// `POST /v1/audio/transcriptions`: the form's fields and the answers. Reading the form is the edge's work.
import { type Static, Type } from '@sinclair/typebox';
import { Choice, type Preference, type PriceRule } from './choice.ts';
import type { Candidate, SpeechGateMode } from './listen.ts';
import { Word } from './listen-events.ts';
import type { RedactionClass } from './redaction.ts';
import type { Replacement } from './replacements.ts';
import type { RequestLimits } from './request-limits.ts';
import type { DataResidencyRule } from './residency-rule.ts';
import type { Tags } from './tags.ts';
import type { Common } from './vocabulary.ts';

export const ResponseFormat = Type.Union([
  Type.Literal('json'),
  Type.Literal('text'),
  Type.Literal('verbose_json'),
  Type.Literal('srt'),
  Type.Literal('vtt'),
  Type.Literal('diarized_json'),
]);
export type ResponseFormat = Static<typeof ResponseFormat>;

/** A checked transcription request, without its file. */
export interface TranscriptionRequest {
  model: string;
  fallbacks: Candidate[];
  /** What models are chosen by, where they are. */
  prefer?: Preference | undefined;
  /** What prices decide about the chain. */
  price?: PriceRule | undefined;
  /** So many of the models, from the first on, are those of an alias. */
  aliased?: number;
  responseFormat: ResponseFormat;
  language: string | undefined;
  diarization: boolean;
  timestampGranularities: ('word' | 'segment')[];
  /** Whether the answer may show the times of words, or is cut at them. */
  wordTimestamps: boolean;
  providerParams: Record<string, unknown>;
  /** Whose account at the provider of `model` is used; undefined for one's own where there is one. */
  credential?: Candidate['credential'];
  stream: boolean;
  strict: boolean;
  /** What is asked of all models in the same words. */
  common: Common;
  /** Where the audio may go. */
  rule?: DataResidencyRule | undefined;
  /** Undefined for the model's own default. */
  speechGate?: SpeechGateMode | undefined;
  /** What the gateway itself redacts; undefined for nothing. */
  redacted?: readonly RedactionClass[] | undefined;
  /** What is written in another way: the rules of the request. Undefined for none. */
  replacements?: readonly Replacement[] | undefined;
  /** What the file may cost, and how long it may be. */
  limits?: RequestLimits | undefined;
  tags?: Tags | undefined;
}

export const DurationUsage = Type.Object({
  type: Type.Literal('duration'),
  seconds: Type.Number({
    description:
      'Seconds that are charged: those of the file, times its channels where the provider bills each of them.',
  }),
});

const Warning = Type.Object({ code: Type.String(), message: Type.String(), param: Type.Optional(Type.String()) });

/** What a token was worth to the model, as OpenAI tells it. */
export const TokenLogprob = Type.Object({
  token: Type.String(),
  bytes: Type.Optional(Type.Array(Type.Integer())),
  logprob: Type.Number(),
});
export type TokenLogprob = Static<typeof TokenLogprob>;

const logprobs = Type.Optional(
  Type.Array(TokenLogprob, { description: 'Where `include[]=logprobs` was asked for and the model gives them.' }),
);

/** @param what has no speech */
const noSpeech = (what: string) =>
  Type.Optional(
    Type.Literal(true, {
      description: `Only with a speech gate (\`speech_gate\`): no voice was found in the audio of ${what}, so the model invented it.`,
    }),
  );
const noSpeechAtAll = Type.Optional(
  Type.Literal(true, {
    description:
      'Only with a speech gate (`speech_gate`): no voice was found in the audio of any of the text, so the model invented it. With `speech_gate=drop`, `text` is empty.',
  }),
);

const redactions = Type.Optional(
  Type.Record(Type.String(), Type.Integer({ minimum: 1 }), {
    description: 'How often the gateway has redacted each class; absent if it has redacted nothing.',
  }),
);

/** `response_format=json`. */
export const Transcription = Type.Object({
  text: Type.String(),
  no_speech: noSpeechAtAll,
  redactions,
  logprobs,
  usage: DurationUsage,
  warnings: Type.Optional(Type.Array(Warning)),
});
export type Transcription = Static<typeof Transcription>;

const neutral = (value: string) => `OpenAI's; ${value} here.`;

/** With all members of OpenAI's: libraries insist on them. */
export const Segment = Type.Object({
  id: Type.Integer(),
  seek: Type.Integer({ description: neutral('0') }),
  start: Type.Number(),
  end: Type.Number(),
  text: Type.String(),
  tokens: Type.Array(Type.Integer(), { description: neutral('empty') }),
  temperature: Type.Number({ description: 'That of the request, or 0.' }),
  avg_logprob: Type.Number({ description: 'The logarithm of `confidence`; 0 where the model gives none.' }),
  compression_ratio: Type.Number({ description: neutral('1') }),
  no_speech_prob: Type.Number({ description: 'OpenAI’s; 1 where the segment has `no_speech`, and 0 otherwise.' }),
  no_speech: noSpeech('the segment'),
  speaker: Type.Optional(Type.Integer()),
  confidence: Type.Optional(Type.Number()),
});
export type Segment = Static<typeof Segment>;

export const VerboseTranscription = Type.Object({
  text: Type.String(),
  task: Type.Literal('transcribe'),
  language: Type.String({
    description:
      'Its English name in lower case, such as `english`, as OpenAI writes it; `und` where nobody knows. Live events have codes.',
  }),
  duration: Type.Number({ description: 'Seconds of audio.' }),
  model: Type.String({ description: 'The slug that answered.' }),
  segments: Type.Optional(
    Type.Array(Segment, { description: 'Left out where `timestamp_granularities[]` asks for words alone.' }),
  ),
  words: Type.Optional(
    Type.Array(Word, { description: 'Left out where `timestamp_granularities[]` asks for segments alone.' }),
  ),
  request_id: Type.String(),
  usage: Type.Object({
    type: Type.Literal('duration'),
    seconds: Type.Number(),
    cost_usd: Type.String(),
    byok: Type.Boolean(),
  }),
  no_speech: noSpeechAtAll,
  choice: Type.Optional(Choice),
  redactions,
  fallback: Type.Optional(Type.Array(Type.Object({ model: Type.String(), reason: Type.String() }))),
  warnings: Type.Optional(Type.Array(Warning)),
  logprobs,
});
export type VerboseTranscription = Static<typeof VerboseTranscription>;

const segmentMembers = {
  type: Type.Literal('transcript.text.segment'),
  id: Type.String(),
  start: Type.Number(),
  end: Type.Number(),
  text: Type.String(),
};

const ALPHABET = 26;

/** A speaker as vendors with letters call one: `A`, …, `Z`, `AA`, … @param speaker from 0 */
export function speakerLetter(speaker: number): string {
  const before = speaker < ALPHABET ? '' : speakerLetter(Math.floor(speaker / ALPHABET) - 1);
  return `${before}${String.fromCharCode(65 + (speaker % ALPHABET))}`;
}

export const DiarizedSegment = Type.Object({
  ...segmentMembers,
  no_speech: noSpeech('the segment'),
  speaker: Type.String({
    description: '`A`, `B` and so on, in the order of first appearance; `unknown` where the model told none.',
  }),
});
export type DiarizedSegment = Static<typeof DiarizedSegment>;

/** `response_format=diarized_json`, as OpenAI has it: `verbose_json` with `diarization` says more. */
export const DiarizedTranscription = Type.Object({
  text: Type.String(),
  task: Type.Literal('transcribe'),
  duration: Type.Number({ description: 'Seconds of audio.' }),
  segments: Type.Array(DiarizedSegment),
  no_speech: noSpeechAtAll,
  redactions,
  usage: DurationUsage,
  warnings: Type.Optional(Type.Array(Warning)),
});
export type DiarizedTranscription = Static<typeof DiarizedTranscription>;

/** The events of `stream=true`, each the `data` of a server-sent event. All deltas joined are the text of the last event. */
export const TranscriptDelta = Type.Object({
  type: Type.Literal('transcript.text.delta'),
  delta: Type.String(),
  no_speech: noSpeech('the delta'),
  segment_id: Type.Optional(Type.String({ description: 'With `diarization`: the segment that it belongs to.' })),
});
export const TranscriptSegment = Type.Object(
  {
    ...segmentMembers,
    no_speech: noSpeech('the segment'),
    speaker: Type.Union([Type.Integer(), Type.String()], {
      description:
        'From 0 in the order of first appearance; with `response_format=diarized_json` `A`, `B` and so on, or `unknown`.',
    }),
  },
  { description: 'With `diarization`, where the model told who spoke: behind the delta of the same segment.' },
);
export const TranscriptDone = Type.Object({
  type: Type.Literal('transcript.text.done'),
  text: Type.String(),
  no_speech: noSpeechAtAll,
  redactions,
  logprobs,
  usage: DurationUsage,
  warnings: Type.Optional(Type.Array(Warning)),
});
export const TranscriptEvent = Type.Union([TranscriptDelta, TranscriptSegment, TranscriptDone]);
export type TranscriptEvent = Static<typeof TranscriptEvent>;
