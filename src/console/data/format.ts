// Money, lengths, times, ids, reasons and codes as people read them.

/** Decimal strings in USD as they come: no digit is lost, and the cents are always shown. */
export function usd(amount: string): string {
  const { cents, rest } = usdParts(amount);
  return cents + rest;
}

/** `0.0123` is `$0.01` and `23`. */
export function usdParts(amount: string): { cents: string; rest: string } {
  const [whole = '0', fraction = ''] = amount.replace('-', '').split('.');
  const sign = amount.startsWith('-') ? '−' : '';
  return {
    cents: `${sign}$${Number(whole).toLocaleString('en-US')}.${fraction.slice(0, 2).padEnd(2, '0')}`,
    rest: fraction.slice(2).replace(/0+$/, ''),
  };
}

/** 75.5 → `1 min 15.5 s`. */
export function length(seconds: number): string {
  const whole = Math.floor(seconds);
  const [hours, minutes] = [Math.floor(whole / 3600), Math.floor((whole % 3600) / 60)];
  if (hours > 0) return `${hours} h ${minutes} min`;
  const rest = Math.round((seconds - minutes * 60) * 10) / 10;
  return minutes > 0 ? `${minutes} min ${rest} s` : `${rest} s`;
}

/** 0.34 → `340 ms`, 2.5 → `2.5 s`. */
export const shortSeconds = (seconds: number): string =>
  seconds < 1 ? `${Math.round(seconds * 1000)} ms` : `${Math.round(seconds * 10) / 10} s`;

/** 0.1234 → `12.3 %`. */
export const percent = (share: number): string => `${Math.round(share * 1000) / 10} %`;

/** In the user's time zone, which is named. */
export function time(iso: string): string {
  return new Date(iso).toLocaleString(undefined, {
    year: 'numeric',
    month: 'short',
    day: 'numeric',
    hour: 'numeric',
    minute: '2-digit',
    timeZoneName: 'short',
  });
}

/** `3 minutes ago`, `in 2 days`. */
export function ago(iso: string, nowMs = Date.now()): string {
  const seconds = (new Date(iso).getTime() - nowMs) / 1000;
  const [unit, size] = UNITS.find(([, bound]) => Math.abs(seconds) >= bound) ?? (['second', 1] as const);
  return new Intl.RelativeTimeFormat(undefined, { numeric: 'auto' }).format(Math.round(seconds / size), unit);
}

const UNITS = [
  ['year', 31_536_000],
  ['month', 2_592_000],
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
] as const;

/** Its prefix and its end: `ses_…d107b2b4`. */
export function shortId(id: string): string {
  return id.length <= 16 ? id : `${id.slice(0, id.indexOf('_') + 1)}…${id.slice(-8)}`;
}

/** A code that is not listed here is shown in its own words. */
const REASONS: Readonly<Record<string, string>> = {
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
  spend_ceiling: 'spend ceiling reached',
  stalled: 'stopped answering',
  streams_full: 'no free stream at the provider',
  upstream_account: 'provider refused the key',
  upstream_closed: 'connection lost',
  upstream_error: 'provider reported an error',
  replaced: 'replaced',
  finished: 'finished',
};

export const reasonText = (code: string): string => REASONS[code] ?? code.replaceAll('_', ' ');

/** `deepgram/nova-3 to local/commands-en: connect_failed`, with the reason in words. */
export function failoverText(text: string): string {
  const at = text.lastIndexOf(': ');
  if (at === -1) return text;
  return `${text.slice(0, at).replace(' to ', ' → ')}: ${reasonText(text.slice(at + 2))}`;
}
