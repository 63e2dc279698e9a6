// What the system calls a failure.

/** Such as `ENOENT`, also of a failure behind `fetch`; the name of an error without a code. */
export function codeOf(error: unknown): string {
  if (!(error instanceof Error)) return 'error';
  if ('code' in error && typeof error.code === 'string') return error.code;
  return error.cause === undefined ? error.name : codeOf(error.cause);
}
