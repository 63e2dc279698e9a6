// Whose files, jobs and sessions are.
import { apiError } from '../api/errors.ts';

/** Whose they are: a key's, among what it requested in the words of one dialect. */
export interface Owner {
  organisationId: string;
  keyId: string;
  /** Its name. */
  dialect: string;
}

export const isSame = (one: Owner, other: Owner): boolean => one.keyId === other.keyId && one.dialect === other.dialect;

/** The same whether it never was, is over or is another key's. */
export const notHere = (what: 'file' | 'job', keptSeconds: number) =>
  apiError(
    'not_found',
    `There is no such ${what} of this key. It may be gone: a ${what} is kept for ${keptSeconds / 3_600} h.`,
    { param: what === 'file' ? 'file' : 'id' },
  );
