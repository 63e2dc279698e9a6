// Why a backup could not be made, listed or restored.

/** The message is one sentence for the operator, without secrets. */
export class BackupError extends Error {
  override readonly name: string = 'BackupError';
}
