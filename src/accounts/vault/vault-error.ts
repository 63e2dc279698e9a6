// What makes a vault unusable.

/** The message is one sentence for the operator, without secrets. */
export class VaultError extends Error {
  override readonly name = 'VaultError';
}
