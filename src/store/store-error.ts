// Why a call to the store was rejected.

/**
 * - `cannot_open`: the file or its directory cannot be used; the message says what to do
 * - `overflow`: too many calls are waiting
 * - `busy`: another process holds the write lock for longer than the store waits
 * - `not_found`, `invalid`, `conflict`: the call itself names something that is not there, out of range, or taken
 * - `superseded`: another process owns the database since; this one may not write to it any more
 * - `insufficient_credit`, `daily_spend`, `spend_ceiling`: there is less money than the call asks for at least
 * - `failed`: the disk, the file or the thread failed
 * - `closed`: the store was closed
 * - `unreachable`: the node that keeps the store did not answer; it is not known whether the call was applied
 */
export type StoreErrorReason =
  | 'cannot_open'
  | 'overflow'
  | 'busy'
  | 'not_found'
  | 'invalid'
  | 'conflict'
  | 'superseded'
  | 'insufficient_credit'
  | 'daily_spend'
  | 'spend_ceiling'
  | 'failed'
  | 'closed'
  | 'unreachable';

/** A call that changed nothing, unless the reason is `unreachable` and it was sent. The message is one sentence without secrets. */
export class StoreError extends Error {
  override readonly name: string = 'StoreError';
  readonly reason: StoreErrorReason;
  /** The call did not leave this node, or no node took it: it was certainly not applied. */
  readonly isUnsent: boolean;

  constructor(reason: StoreErrorReason, message: string, { isUnsent = false } = {}) {
    super(message);
    this.reason = reason;
    this.isUnsent = isUnsent;
  }
}

export function noOrganisation(id: string): StoreError {
  const shown = JSON.stringify(id.slice(0, 50));
  return new StoreError('not_found', `There is no organisation ${shown}; voxgate orgs list shows them.`);
}

// Turns what SQLite, its library and the file system throw into sentences an operator can act on.
/** The sentence for a failure to open the database `file`. */
export function openError(error: unknown, file: string): StoreError {
  if (error instanceof StoreError) return error;
  return new StoreError('cannot_open', `The database ${JSON.stringify(file)} ${whyNotOpened(error)}`);
}

function whyNotOpened(error: unknown): string {
  const code = codeOf(error);
  if (error instanceof Error && 'syscall' in error && error.syscall === 'watch') {
    return `cannot be watched for changes by other processes (${code}): raise the system's limits of file watches (fs.inotify.max_user_instances and max_user_watches).`;
  }
  // What the tables are asked is always the same: where that is wrong, the tables are not what they were.
  if (code.startsWith('SQLITE_NOTADB') || code.startsWith('SQLITE_CORRUPT') || code === 'SQLITE_ERROR') {
    return 'is damaged or is no SQLite file: restore it from a backup with `voxgate ledger restore FILE --force`, or move it away to start with an empty one.';
  }
  if (isBusy(error)) return 'is locked by another process: end that process or wait until it is done.';
  if (code.startsWith('SQLITE_FULL') || code === 'ENOSPC')
    return 'cannot be opened because the disk is full: free some space.';
  if (code.startsWith('SQLITE_READONLY') || ['EACCES', 'EPERM', 'EROFS'].includes(code)) {
    return `cannot be written (${code}): give this user the right to write the file and its directory, or set another data directory.`;
  }
  if (
    code === 'ERR_DLOPEN_FAILED' ||
    code === 'MODULE_NOT_FOUND' ||
    messageOf(error).startsWith('Could not locate the bindings file')
  ) {
    return `cannot be opened because the SQLite library does not fit Node ${process.versions.node}: run \`npm rebuild better-sqlite3\`.`;
  }
  return `cannot be opened (${code}): check that its directory is a directory on a local disk that this user may write.`;
}

/** The error for a call that failed on an open database. */
export function callError(error: unknown): StoreError {
  if (error instanceof StoreError) return error;
  if (isBusy(error)) {
    return new StoreError('busy', 'The database is locked by another process: try again in a moment.');
  }
  return new StoreError('failed', `The database could not do it (${codeOf(error)}): ${messageOf(error)}.`);
}

/** Whether another process, or another connection of this one, holds a lock. */
export function isBusy(error: unknown): boolean {
  return codeOf(error).startsWith('SQLITE_BUSY');
}

/**
 * Whether the operation or a constraint of the tables refused the call. Then every copy of the database refuses it. All other errors of
 * SQLite are about the disk, the memory, a lock or a damaged file.
 */
export function isRefusal(error: unknown): boolean {
  const code = codeOf(error);
  return !code.startsWith('SQLITE_') || /^SQLITE_(CONSTRAINT|ERROR|MISMATCH|RANGE|TOOBIG)/.test(code);
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : 'error';
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
