// Why a backup could not be made, listed or restored.

/** The message is one sentence for the operator, without secrets. */
export class BackupError extends Error {
  override readonly name = 'BackupError';
}

/** The system's code of a failure, also of one behind `fetch`. */
export function codeOf(error: unknown): string {
  if (!(error instanceof Error)) return 'error';
  if ('code' in error && typeof error.code === 'string') return error.code;
  return error.cause === undefined ? error.name : codeOf(error.cause);
}
