// Money, lengths and times as people read them.

/** Decimal strings in USD as they come: no digit is lost, and at least two are shown. */
export function usd(amount: string): string {
  const [whole = '0', fraction = ''] = amount.replace('-', '').split('.');
  const shown = fraction.replace(/0+$/, '').padEnd(2, '0');
  return `${amount.startsWith('-') ? '−' : ''}$${Number(whole).toLocaleString('en-US')}.${shown}`;
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

/** In the reader's time zone, which is named. */
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

/** Where it was, and what tells it from the others there: `ses_6prcch…56d107b2b`. */
export function shortId(id: string): string {
  return id.length <= 24 ? id : `${id.slice(0, 10)}…${id.slice(-8)}`;
}
