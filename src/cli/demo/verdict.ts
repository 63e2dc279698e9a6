// Whether a demo showed what it is for: one failover, and the sentence whole. Looks at nothing but the client's events.
import type { ServerEvent } from '../../api/listen-events.ts';

/** What went wrong, as a sentence; undefined when `said` arrived whole with exactly one failover. */
export function problemOf(events: readonly ServerEvent[], said: string): string | undefined {
  const error = events.find((event) => event.type === 'error');
  if (error !== undefined) return `the session failed: ${error.error.message}`;
  const end = events.at(-1);
  if (end?.type !== 'session_ended') return 'the session was cut off before its end.';
  const failovers = events.filter((event) => event.type === 'failover').length;
  if (failovers === 0) return 'there was no failover: what the first provider did gave no reason for one.';
  if (failovers > 1) return `there were ${failovers} failovers, and one was wanted.`;
  const final = finalText(events);
  if (plain(final) === plain(said)) return undefined;
  return `"${said}" was said, and ${final === '' ? 'no final came' : `"${final}" arrived`}.`;
}

/** The finals of all turns. */
function finalText(events: readonly ServerEvent[]): string {
  return events.flatMap((event) => (event.type === 'transcript' && event.is_final ? [event.text] : [])).join(' ');
}

/** Words alone: models put capitals, commas and full stops where they like. */
function plain(text: string): string {
  return text
    .toLowerCase()
    .replace(/[^\p{L}\p{N}' ]+/gu, ' ')
    .replace(/ +/g, ' ')
    .trim();
}
