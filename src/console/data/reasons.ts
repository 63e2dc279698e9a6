// Reasons and codes as people read them. One that is not known here is shown in its own words.
const TEXTS: Readonly<Record<string, string>> = {
  // Why a session or file ended.
  answer_untaken: 'client left before the answer',
  client_closed: 'closed by the client',
  completed: 'completed',
  credit: 'credit used up',
  insufficient_credit: 'not enough credit',
  draining: 'node shut down',
  error: 'internal error',
  idle: 'no audio for too long',
  ledger: 'billing unavailable',
  lost: 'node stopped answering',
  node_lost: 'node was lost',
  recovered: 'closed after a restart',
  too_long: 'longest duration reached',
  upstream: 'provider failed',
  upstream_exhausted: 'all models failed',
  audio_backlog_exceeded: 'audio sent too fast',
  overloaded: 'no room on the node',
  audio_unreadable: 'audio could not be read',
  invalid_request: 'invalid request',
  key_revoked: 'key was revoked',
  model_unavailable: 'model unavailable',
  // Why a connection to a provider failed, or ended.
  circuit_open: 'paused after repeated failures',
  connect_failed: 'could not connect',
  connect_timeout: 'connecting took too long',
  empty_result: 'no words returned',
  stalled: 'stopped answering',
  upstream_account: 'provider refused the key',
  upstream_closed: 'connection lost',
  upstream_error: 'provider reported an error',
  replaced: 'replaced',
  finished: 'finished',
};

export const reasonText = (code: string): string => TEXTS[code] ?? code.replaceAll('_', ' ');

/** `deepgram/nova-3 to local/commands-en: connect_failed`, with the reason in words. */
export function failoverText(text: string): string {
  const at = text.lastIndexOf(': ');
  if (at === -1) return text;
  return `${text.slice(0, at).replace(' to ', ' → ')}: ${reasonText(text.slice(at + 2))}`;
}
