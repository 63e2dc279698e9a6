// The failures of a leg that are none of its provider's words: what happened to the connection, as the session is told it.

import { errors } from 'undici';
import type { LegFailure } from '../../../machines/events.ts';

export const lostAudio: LegFailure = {
  kind: 'retry',
  reason: 'upstream_error',
  code: 'audio_lost',
  message: 'Audio was lost on its way to the provider.',
  own: true,
};

/** A command of the session did not come, or came twice or in the wrong order. */
export const lostCommand: LegFailure = {
  kind: 'retry',
  reason: 'upstream_error',
  code: 'command_lost',
  message: 'A message to the provider was lost inside the gateway.',
  own: true,
};

export const clogged: LegFailure = {
  kind: 'next',
  reason: 'stalled',
  code: 'send_buffer_full',
  message: 'The provider does not take its audio.',
};

/** It confirms its audio, and has stopped to: whether it hears what it was sent, nobody knows. */
export const unconfirmed: LegFailure = {
  kind: 'next',
  reason: 'stalled',
  code: 'audio_unconfirmed',
  message: 'The provider does not confirm that it takes its audio.',
};

/** It sends messages without end. */
export const tooManyMessages: LegFailure = {
  kind: 'next',
  reason: 'upstream_error',
  code: 'bad_response',
  message: 'The provider sends more messages than its audio can have.',
};

export const closedEarly = (code: number): LegFailure => ({
  kind: 'retry',
  reason: 'upstream_closed',
  code: `close_${code}`,
  message: 'The provider closed the connection before it was asked to.',
});

/** @param isReached whether the provider received the request to open the connection, which may then be the cause */
export const unreachable = (message: string, isReached = false): LegFailure => ({
  kind: 'next',
  reason: 'connect_failed',
  code: isReached ? 'handshake_failed' : 'unreachable',
  message,
});

/** A fault of the gateway's own: the session continues elsewhere. */
export const ownFault: LegFailure = {
  kind: 'next',
  reason: 'upstream_error',
  code: 'internal_fault',
  message: 'The gateway lost its connection to the provider.',
  own: true,
};

/** The customer's own key was not to be had: it is gone, disabled, or the vault does not open it. */
export const ownKeyUnavailable: LegFailure = {
  kind: 'account',
  reason: 'connect_failed',
  code: 'own_key_unavailable',
  message: 'The key could not be used: it was removed or disabled, or cannot be read.',
  own: true,
};

/** What this node would dial with leaves the region that the request may use, or keeps what it may not: another node's may not. */
export const placeNotKept: LegFailure = {
  kind: 'next',
  reason: 'connect_failed',
  code: 'place_not_kept',
  message: 'The provider would be reached in a region, or with a retention, that the request does not allow.',
  own: true,
};

/**
 * What went wrong between the gateway and a provider over HTTP, as failures. Texts of the network's own errors are left out: they
 * name addresses of the operator's.
 */
export const poolFull: LegFailure = {
  kind: 'next',
  reason: 'connect_failed',
  code: 'pool_full',
  message: 'Too many requests to the provider wait for a connection.',
  retryAfterMs: 1_000,
  // It says nothing of how the provider serves others.
  own: true,
};

const connectTimeout: LegFailure = {
  kind: 'next',
  reason: 'connect_timeout',
  code: 'connect_timeout',
  message: 'The provider could not be reached in time.',
};

export const answerTimeout: LegFailure = {
  kind: 'next',
  reason: 'stalled',
  code: 'answer_timeout',
  message: 'The provider did not answer in time.',
};

/** The provider stopped taking the file. */
export const uploadStalled: LegFailure = { ...clogged, code: 'upload_stalled' };

export const badAnswer: LegFailure = {
  kind: 'next',
  reason: 'upstream_error',
  code: 'bad_answer',
  message: 'The provider’s answer cannot be parsed.',
};

export const answerTooLarge: LegFailure = { ...badAnswer, message: 'The provider’s answer is too large.' };

export const requestLimit: LegFailure = {
  kind: 'next',
  reason: 'stalled',
  code: 'request_limit',
  message: 'The provider was asked too many times without a result.',
};

const connectionLost: LegFailure = {
  kind: 'retry',
  reason: 'upstream_closed',
  code: 'connection_lost',
  message: 'The provider closed the connection before its answer was whole.',
};

/** A fault of the gateway's own: the job continues elsewhere, as a leg does. */
export const internalFault: LegFailure = {
  kind: 'next',
  reason: 'upstream_error',
  code: 'internal_fault',
  message: 'The gateway failed at its request to the provider.',
  own: true,
};

const LOST = ['UND_ERR_SOCKET', 'ECONNRESET', 'EPIPE', 'UND_ERR_RES_CONTENT_LENGTH_MISMATCH'];
const LATE = ['UND_ERR_CONNECT_TIMEOUT', 'ETIMEDOUT'];

/** The failure of an error of the HTTP client. */
export function networkFailure(error: unknown): LegFailure {
  const code = String((error as { code?: unknown } | undefined)?.code ?? '');
  if (LATE.includes(code)) return connectTimeout;
  if (LOST.includes(code)) return connectionLost;
  if (error instanceof errors.HTTPParserError || error instanceof errors.HeadersOverflowError) return badAnswer;
  // The client itself refuses the request: a header that is none, a body of another length than said.
  if (code === '' || code.startsWith('UND_ERR_')) return internalFault;
  return unreachable(`The provider could not be reached (${code}).`);
}

/** A leg, or a request by HTTP, failed before it finished. */
export class LegFailed extends Error {
  override readonly name = 'LegFailed';
  readonly failure: LegFailure;

  constructor(failure: LegFailure) {
    super(failure.message);
    this.failure = failure;
  }
}
