// Every call of the store by name, and how it is applied: calls that write share a commit with those that wait beside them.
import type { StoreCalls } from './store.ts';

export type CallName = keyof StoreCalls;

/**
 * `notes`: writes what may be lost when the power fails, because nothing was promised with it: it is committed, and the disk is not
 * waited for. A hold is such a note: a machine that went dark uses none of the money. `alone`: works outside of any transaction,
 * after what waits before it was answered.
 */
export type CallKind = 'reads' | 'notes' | 'writes' | 'alone';

/** Complete by its type: a call that is missing here does not compile. */
export const CALLS: Readonly<Record<CallName, CallKind>> = {
  bootstrap: 'writes',
  createOrganisation: 'writes',
  setCreditLimit: 'writes',
  setSuspended: 'writes',
  listOrganisations: 'reads',
  findOrganisation: 'reads',
  createKey: 'writes',
  findKeyByHash: 'reads',
  findKey: 'reads',
  listKeys: 'reads',
  changeKey: 'writes',
  rollKey: 'writes',
  revokeKey: 'writes',
  noteKeysUsed: 'notes',
  revokedKeyIds: 'reads',

  recordAudit: 'writes',
  notePrices: 'writes',
  listAudit: 'reads',

  takeOutbox: 'writes',
  endOutbox: 'writes',
  nextOutboxDueMs: 'reads',

  openSession: 'notes',
  renewHold: 'writes',
  settleSession: 'writes',
  openNodes: 'reads',
  closeLost: 'writes',
  expireHolds: 'writes',
  endHolds: 'writes',
  endIdempotency: 'writes',
  addCredit: 'writes',
  balanceOf: 'reads',
  findSession: 'reads',
  listSessions: 'reads',
  searchSessions: 'reads',
  usageOf: 'reads',
  billOf: 'reads',
  auditLedger: 'reads',
  exportLedger: 'reads',
  backup: 'alone',

  keepSessionEvents: 'notes',
  findSessionEvents: 'reads',

  saveProviderKey: 'writes',
  listProviderKeys: 'reads',
  findProviderKey: 'reads',
  readSealedProviderKey: 'reads',
  noteProviderKeyCheck: 'writes',
  noteProviderKeyUse: 'notes',
  removeProviderKey: 'writes',
  listSealedProviderKeys: 'reads',
  countSealedBy: 'reads',
  vaultCanary: 'reads',
  keepVaultCanary: 'writes',
  resealVault: 'writes',

  claimIdempotency: 'writes',
  renewIdempotency: 'writes',
  finishIdempotency: 'writes',
  releaseIdempotency: 'writes',

  claimOwnership: 'writes',
  findOwnership: 'reads',

  findLedger: 'reads',
  noteLedger: 'writes',
  acceptLedger: 'writes',

  signUp: 'writes',
  findPerson: 'reads',
  isVerificationToken: 'reads',
  beginVerification: 'writes',
  verifyAddress: 'writes',
  resendVerification: 'writes',
  requestPasswordReset: 'writes',
  isResetToken: 'reads',
  resetPassword: 'writes',
  changePassword: 'writes',
  requestAddressChange: 'writes',
  moveAccount: 'writes',
  deletePerson: 'writes',
  inviteFirstOwner: 'writes',
  invite: 'writes',
  findInvitation: 'reads',
  beginJoining: 'writes',
  join: 'writes',
  beginLogin: 'writes',
  noteRefusedLogin: 'writes',
  openConsoleSession: 'writes',
  findConsoleSession: 'reads',
  enterOrganisation: 'writes',
  listMemberships: 'reads',
  noteConsoleSession: 'writes',
  beginConfirmation: 'writes',
  confirmConsoleSession: 'writes',
  renameConsoleSession: 'writes',
  listConsoleSessions: 'reads',
  endConsoleSession: 'writes',
};
