// What each vendor says of what went wrong, member by member, as its clients know it: on the socket, and over HTTP.
import { type TObject, type TSchema, Type } from '@sinclair/typebox';

const exactly = (members: Record<string, TSchema>): TObject => Type.Object(members, { additionalProperties: false });
const text = Type.String({ minLength: 1 });
const count = Type.Integer({ minimum: 0 });
const nothing = Type.Null();
const typed = (type: string, members: Record<string, TSchema>) => exactly({ type: Type.Literal(type), ...members });

const ours = exactly({
  error: exactly({ type: text, code: text, message: text, param: Type.Union([text, nothing]), request_id: text }),
});
const flux = { request_id: text, sequence_id: count };
const openaiError = { type: text, code: Type.Union([text, nothing]), message: text };
const warnings = {
  assemblyai: typed('Warning', { warning_code: count, warning: text }),
  speechmatics: exactly({ message: Type.Literal('Warning'), type: text, reason: text }),
};

interface Shapes {
  /** Of messages on the socket. */
  told: readonly TSchema[];
  http: TSchema;
}

export const ERROR_SHAPES: Readonly<Record<string, Shapes>> = {
  deepgram: {
    told: [
      typed('Error', { variant: text, description: text, message: text }),
      typed('Error', { code: text, description: text, ...flux }),
      typed('ConfigureFailure', { code: text, description: text, ...flux }),
    ],
    http: exactly({ category: text, message: text, details: text, request_id: text }),
  },
  speechmatics: {
    told: [exactly({ message: Type.Literal('Error'), type: text, reason: text }), warnings.speechmatics],
    http: exactly({ code: count, error: text, detail: text }),
  },
  assemblyai: {
    told: [typed('Error', { error_code: count, error: text }), warnings.assemblyai],
    http: exactly({ error: text }),
  },
  openai: {
    told: [
      typed('error', {
        event_id: text,
        error: Type.Object({ ...openaiError, event_id: Type.Union([Type.String(), nothing]) }),
      }),
    ],
    http: exactly({ error: Type.Object(openaiError) }),
  },
  elevenlabs: {
    told: [
      exactly({
        message_type: Type.String({ pattern: '^(error|invalid_request|rate_limited|[a-z_]+_(error|exceeded))$' }),
        error: text,
      }),
    ],
    http: exactly({ detail: exactly({ status: text, message: text }) }),
  },
  gladia: {
    told: [typed('error', { session_id: text, created_at: text, data: exactly({ code: text, message: text }) })],
    http: exactly({ statusCode: count, message: text, request_id: text, error: text }),
  },
  soniox: {
    told: [
      exactly({
        tokens: Type.Array(Type.Never(), { maxItems: 0 }),
        ...{ error_code: count, error_type: text, error_message: text },
      }),
    ],
    http: exactly({
      ...{ status_code: count, error_type: text, message: text },
      ...{ validation_errors: Type.Array(Type.Unknown()), request_id: text },
    }),
  },
  livekit: {
    told: [typed('error', { message: text, code: count }), typed('warning', { code: text, message: text })],
    http: typed('error', { message: text, code: count }),
  },
  vercel: {
    told: [typed('error', { error: exactly({ message: text, type: text, code: text }) })],
    http: exactly({ error: exactly({ message: text, type: text, code: text }), generationId: text }),
  },
  // Carriers have no words for it on the socket, but for AudioHook.
  twilio: { told: [], http: ours },
  telnyx: { told: [], http: ours },
  vonage: { told: [], http: ours },
  audiohook: {
    told: [
      typed('disconnect', {
        ...{ version: Type.Literal('2'), seq: count, clientseq: Type.Integer(), id: Type.String() },
        parameters: exactly({ reason: text, info: text }),
      }),
    ],
    http: ours,
  },
};
