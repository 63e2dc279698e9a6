// The failures of a leg that are none of its provider's words: what happened to the connection, as the session is told it;
// and what is taken out of those that are.
import type { LegFailure } from '../../machines/events.ts';

export const lostAudio: LegFailure = {
  kind: 'retry',
  reason: 'upstream_error',
  code: 'audio_lost',
  message: 'Audio was lost on its way to the provider.',
  own: true,
};

export const clogged: LegFailure = {
  kind: 'next',
  reason: 'stalled',
  code: 'send_buffer_full',
  message: 'The provider does not take its audio.',
};

export const closedEarly = (code: number): LegFailure => ({
  kind: 'retry',
  reason: 'upstream_closed',
  code: `close_${code}`,
  message: 'The provider closed the connection before it was asked to.',
});

export const unreachable = (message: string): LegFailure => ({
  kind: 'next',
  reason: 'connect_failed',
  code: 'unreachable',
  message,
});

const REDACTED = '[redacted]';
/** Less of a credential tells nothing of it, and may be a word of its own. */
const PIECE_CHARACTERS_MIN = 6;

/** A text of a provider's without the credential that it was sent: whole, or cut off with the end of the text. */
export function withoutSecret(text: string, secret: string | undefined): string {
  if (secret === undefined || secret === '') return text;
  const clean = text.replaceAll(secret, REDACTED);
  for (let length = secret.length - 1; length >= PIECE_CHARACTERS_MIN; length--)
    if (clean.endsWith(secret.slice(0, length))) return clean.slice(0, -length) + REDACTED;
  return clean;
}
