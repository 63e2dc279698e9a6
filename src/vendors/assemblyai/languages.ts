// Languages as AssemblyAI writes them: `en_us` and bare codes where BCP-47 has `en-US` and regions.

import type { Mode } from '../../api/models.ts';
import { hasLive } from './models.ts';

const ENGLISH: Readonly<Record<string, string>> = { us: 'en_us', gb: 'en_uk', au: 'en_au' };

/** The base of a BCP-47 language: what a live session is steered by. */
export const baseOf = (language: string): string => (language.toLowerCase().split('-')[0] as string).trim();

/** The `language_code` of a BCP-47 language. Only English has regions. */
export function codeOf(language: string): string {
  const [base, ...rest] = language.toLowerCase().split('-');
  const region = rest.find((part) => Object.hasOwn(ENGLISH, part));
  return base === 'en' && region !== undefined ? (ENGLISH[region] as string) : baseOf(language);
}

/** The BCP-47 language of a `language_code`; undefined for what is none. */
export function languageOf(code: unknown): string | undefined {
  if (typeof code !== 'string' || !/^[a-z]{2,3}([_-][a-z]{2,4})?$/i.test(code)) return undefined;
  const [base, region] = code.toLowerCase().split(/[_-]/) as [string, string | undefined];
  if (region === undefined) return base;
  return `${base}-${base === 'en' && region === 'uk' ? 'GB' : region.toUpperCase()}`;
}

/** What a session or a file is told of a language: regions of English for files alone, also where those are of a live session. */
export const heardAs = (language: string, model: string, mode: Mode): string =>
  mode === 'live' && hasLive(model) ? baseOf(language) : (languageOf(codeOf(language)) ?? baseOf(language));
