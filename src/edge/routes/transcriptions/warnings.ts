// How an answer of any format says what was not honoured: as a header.
import type { Degradation } from '../../../failover/chain.ts';

/** Some proxies refuse answers whose headers are longer than a few of these. */
const HEADER_BYTES_MAX = 1_024;
/** Stands for those that there was no room for. */
const MORE = 'more_warnings';

/** `Voxgate-Warning`: the codes, in their order. Those of providers may have any text, and become safe to send. */
export function warningHeader(warnings: readonly Degradation[]): Record<string, string> {
  const codes = warnings.map(({ code }) => code.replace(/[^\w.-]/g, '_').slice(0, 64)).filter((code) => code !== '');
  if (codes.length === 0) return {};
  const value = codes.join(', ');
  if (value.length <= HEADER_BYTES_MAX) return { 'Voxgate-Warning': value };
  const distinct = [...new Set(codes)];
  while ([...distinct, MORE].join(', ').length > HEADER_BYTES_MAX) distinct.pop();
  return { 'Voxgate-Warning': [...distinct, MORE].join(', ') };
}
