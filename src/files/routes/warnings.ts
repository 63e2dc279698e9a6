// How an answer of any format says what was not honoured: as a header.
import type { Degradation } from '../../live/failover/chain.ts';

/** Some proxies refuse answers whose headers are longer than a few of these. */
const HEADER_BYTES_MAX = 1_024;
/** Stands for those that there was no room for. */
const MORE = 'more_warnings';
/** What needs no quotes in a structured field (RFC 9651). */
const TOKEN = /^[A-Za-z][\w.-]*$/;

/**
 * `Voxgate-Warning`, a list of a structured field: the codes in their order, each with the parameter that it is about. Codes and names
 * of providers may have any text, and become safe to send.
 */
export function warningHeader(warnings: readonly Pick<Degradation, 'code' | 'param'>[]): Record<string, string> {
  const entries = warnings.map(entryOf).filter((entry) => entry !== '');
  if (entries.length === 0) return {};
  const value = entries.join(', ');
  if (value.length <= HEADER_BYTES_MAX) return { 'Voxgate-Warning': value };
  const distinct = [...new Set(entries)];
  while ([...distinct, MORE].join(', ').length > HEADER_BYTES_MAX) distinct.pop();
  return { 'Voxgate-Warning': [...distinct, MORE].join(', ') };
}

function entryOf({ code, param }: Pick<Degradation, 'code' | 'param'>): string {
  const safeCode = code.replace(/[^\w.-]/g, '_').slice(0, 64);
  const name = param?.replace(/[^\w.[\]-]/g, '_').slice(0, 64) ?? '';
  if (safeCode === '' || name === '') return safeCode;
  return `${safeCode};param=${TOKEN.test(name) ? name : `"${name}"`}`;
}
