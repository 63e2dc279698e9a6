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

const HOUR_MS = 3_600_000;

/** The same whether it never was, is over or is another key's. */
export const noFile = (keptMs: number) =>
  apiError(
    'not_found',
    `This key has no such file. It may have been deleted: a file is kept for ${keptMs / HOUR_MS} h.`,
    { param: 'file' },
  );

/** @param hasRetention the client may say how long it is kept */
export const noJob = (keptMs: number, hasRetention: boolean) => {
  const otherwise = hasRetention ? ', or for its `retention_seconds`' : '';
  const kept = `a job is kept for ${keptMs / HOUR_MS} h after its end${otherwise}`;
  return apiError('not_found', `This key has no such job. It may have been deleted: ${kept}.`, { param: 'id' });
};
