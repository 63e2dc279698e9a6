// What dialects read out of texts, and write into them, in the same way.
import type { ErrorCode } from '../api/errors.ts';
import { refuse } from '../api/errors.ts';
import { objectIn } from '../providers/kit/json.ts';
import type { OptionRows } from '../providers/kit/options.ts';

/** A word as it is looked up: lower case, without the punctuation around it. */
export const bareWord = (word: string): string =>
  word.toLowerCase().replace(/^[\p{P}\p{S}]+|[\p{P}\p{S}]+$/gu, '') || word.toLowerCase();

/** Of a turn whose model gives none: that of its words together, or 1. */
export function confidenceOf(heard: { confidence?: number; words?: readonly { confidence?: number }[] }): number {
  if (heard.confidence !== undefined) return heard.confidence;
  const known = (heard.words ?? []).flatMap(({ confidence }) => confidence ?? []);
  return known.length === 0 ? 1 : known.reduce((sum, each) => sum + each, 0) / known.length;
}

/** Sets what is there. */
export function setAll(to: Map<string, string>, from: Readonly<Record<string, string | null | undefined>>): void {
  for (const [name, value] of Object.entries(from)) if (value !== undefined && value !== null) to.set(name, value);
}

/** The gateway's own parameters, which every door takes beside those of its vendor. */
const OURS = ['fallbacks', 'region', 'retention', 'latency'] as const;

export function ownParameters(query: URLSearchParams): Map<string, string> {
  const parameters = new Map<string, string>();
  setAll(parameters, Object.fromEntries(OURS.map((name) => [name, query.get(name)])));
  return parameters;
}

/** Those options of a provider that stand in a configuration of its own, under the names that they have live. */
export function optionsIn(rows: OptionRows, config: unknown): Record<string, unknown> {
  const own: Record<string, unknown> = {};
  for (const [name, { live, wire }] of Object.entries(rows)) {
    const known = typeof wire === 'object' ? wire.live : wire;
    if (live === undefined || known === false) continue;
    const value = (known ?? name).split('.').reduce<unknown>((at, part) => objectIn(at)[part], config);
    if (value !== undefined && value !== null) own[name] = value;
  }
  return own;
}

export const badRequest = (param: string, message: string, code: ErrorCode = 'invalid_request') =>
  refuse(code, message, { param });
