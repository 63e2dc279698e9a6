// A second corpus, whose numbers, addresses and spoken forms were made by other hands than the engine's: see held-out.py.
import { readFileSync } from 'node:fs';
import type { Sample } from './corpus.ts';

/** What the engine found of it when it was made, before anything was mended: of so many, and none of it wrongly. */
export const BEFORE_MENDING: Readonly<Partial<Record<string, readonly [found: number, expected: number]>>> = {
  card: [50, 54],
  iban: [24, 24],
  phone: [50, 50],
  email: [44, 44],
  national_id: [29, 34],
  date_of_birth: [28, 28],
};

export const heldOut = (): Pick<Sample, 'text' | 'spans'>[] =>
  readFileSync(new URL('held-out.jsonl', import.meta.url), 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Pick<Sample, 'text' | 'spans'>);
