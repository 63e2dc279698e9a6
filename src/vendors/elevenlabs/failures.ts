// What the errors of ElevenLabs mean: messages are errors by their `message_type`, and refused requests have a `detail`.
import { FailureTable } from '../kit/failures.ts';
import { listIn, objectIn, textIn } from '../kit/json.ts';

const account = { kind: 'account', reason: 'connect_failed' } as const;
const over = { kind: 'retry', reason: 'upstream_closed' } as const;
const busy = { kind: 'next', reason: 'connect_failed' } as const;

export const failures = new FailureTable({
  title: 'ElevenLabs',
  rows: [
    {
      ...{ file: true, status: [400, 413, 415, 422], words: /corrupt|invalid_(audio|content)|unsupported|too short/i },
      ...{ as: 'audio_unusable', kind: 'caller' },
    },
    { status: 'any' },
    { code: 'auth_error', ...account, message: 'ElevenLabs does not accept the API key.' },
    { code: 'quota_exceeded', ...account, message: 'The ElevenLabs account has no quota left.' },
    { code: 'unaccepted_terms', ...account, message: 'The ElevenLabs account has terms to accept.' },
    { code: 'rate_limited', ...busy, message: 'ElevenLabs limits the rate of this account.' },
    { code: 'resource_exhausted', ...busy, message: 'ElevenLabs has no room for this session.' },
    { code: 'queue_overflow', kind: 'next', message: 'ElevenLabs was sent more audio than it queues.' },
    { code: 'session_time_limit_exceeded', ...over, message: 'ElevenLabs ended the session at its limit of time.' },
    // A close in order follows, or nothing.
    { code: 'insufficient_audio_activity', survives: true },
    { code: 'invalid_request', kind: 'caller', message: 'ElevenLabs does not take this request.' },
    // The form and size of messages are the gateway's.
    { code: 'input_error', kind: 'next', message: 'ElevenLabs does not take a message of the gateway.' },
    { code: 'chunk_size_exceeded', kind: 'next', message: 'ElevenLabs was sent too much audio in one message.' },
    { code: 'transcriber_error', kind: 'retry', message: 'ElevenLabs could not transcribe.' },
  ],
  // A text, an object with a status, or the list of a validation.
  refusal({ detail }) {
    const { status, message } = objectIn(detail);
    const words = textIn(detail) ?? textIn(message) ?? textIn(objectIn(listIn(detail)[0]).msg) ?? '';
    const code = textIn(status);
    return { words: code === undefined ? words : `${code}: ${words}` };
  },
});
