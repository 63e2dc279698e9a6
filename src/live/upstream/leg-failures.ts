// The failures of a leg that are none of its provider's words: what happened to the connection, as the session is told it.
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

/** A fault of the gateway's own: the session goes on elsewhere. */
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
