// Which calls of the store a node without the database may make, which organisation each of them names, and what kinds of
// arguments it has. How they travel is src/cluster; what they do, the tables.
import type { CallName } from '../calls.ts';
import type { StoreCalls } from '../store.ts';

/** What an argument is, as far as it is looked at before the store sees it; with `?` it may be left out. */
type Kind<Argument> = Argument extends string
  ? 'text'
  : Argument extends Uint8Array
    ? 'bytes'
    : Argument extends number
      ? 'number'
      : Argument extends boolean
        ? 'flag'
        : Argument extends bigint
          ? 'money'
          : Argument extends readonly unknown[]
            ? 'list'
            : Argument extends object
              ? 'object'
              : never;

type Kinds<Arguments extends readonly unknown[]> = {
  [Index in keyof Arguments]: Kind<Arguments[Index]> | `${Kind<Arguments[Index]>}?`;
};

/**
 * Where the arguments name the organisation, so that the call goes to the node that keeps its accounts. `first`: the first
 * argument is its id; `member`: the first argument has it as `organisationId`; `none`: the call is about a key known by its hash
 * only, about people, or about links whose organisation is not known yet.
 */
export type Naming = 'first' | 'member' | 'none';

export interface RemoteCall {
  readonly names: Naming;
  readonly kinds: readonly string[];
}

type Rows = {
  readonly [Name in CallName]:
    | 'local'
    | { readonly names: Naming; readonly kinds: Readonly<Kinds<Required<Parameters<StoreCalls[Name]>>>> };
};

const first = <const List extends readonly string[]>(...kinds: List) => ({ names: 'first' as const, kinds });
const member = <const List extends readonly string[]>(...kinds: List) => ({ names: 'member' as const, kinds });
const none = <const List extends readonly string[]>(...kinds: List) => ({ names: 'none' as const, kinds });

/**
 * Complete by its type: a call that is missing here does not compile, and neither does one whose arguments are others.
 * `local`: only where the database is. So is all that an operator does, and all that concerns no single organisation.
 */
const ROWS = {
  bootstrap: 'local',
  createOrganisation: 'local',
  setCreditLimit: 'local',
  setSuspended: 'local',
  setPlaceRule: first('text', 'object', 'object'),
  setAliases: first('text', 'object', 'object'),
  setShowTranscripts: first('text', 'flag', 'object'),
  listOrganisations: 'local',
  findOrganisation: first('text'),
  isOperator: first('text'),
  createKey: first('text', 'object', 'object', 'number?'),
  findKeyByHash: none('bytes'),
  findKey: first('text', 'text'),
  listKeys: first('text'),
  changeKey: first('text', 'text', 'object', 'object', 'number?'),
  rollKey: first('text', 'text', 'number', 'object', 'number?'),
  revokeKey: first('text', 'text', 'object'),
  noteKeysUsed: first('text', 'list'),
  revokedKeyIds: 'local',

  recordAudit: 'local',
  notePrices: 'local',
  listAudit: first('text', 'number', 'number?'),

  takeOutbox: 'local',
  endOutbox: 'local',
  nextOutboxDueMs: 'local',

  openSession: member('object', 'object'),
  renewHold: member('object', 'list', 'object'),
  settleSession: member('object', 'object'),
  expireHolds: 'local',
  endHolds: 'local',
  endIdempotency: 'local',
  addCredit: 'local',
  balanceOf: first('text'),
  findSession: first('text', 'text'),
  listSessions: first('text', 'number', 'text?'),
  searchSessions: first('text', 'object'),
  countLiveSessions: first('text', 'text'),
  usageOf: member('object'),
  billOf: first('text', 'text'),
  auditLedger: 'local',
  exportLedger: 'local',
  backup: 'local',

  keepSessionEvents: first('text', 'text', 'text'),
  findSessionEvents: first('text', 'text'),
  listFailovers: first('text', 'text', 'number'),

  // What is sealed, and by which keys, is the business of the node that has the key ring: src/vault/remote.ts.
  saveProviderKey: 'local',
  listProviderKeys: first('text'),
  findProviderKey: first('text', 'text'),
  readSealedProviderKey: 'local',
  noteProviderKeyCheck: 'local',
  noteProviderKeyUse: 'local',
  removeProviderKey: 'local',
  listSealedProviderKeys: 'local',
  countSealedBy: 'local',
  vaultCanary: 'local',
  keepVaultCanary: 'local',
  resealVault: 'local',

  claimIdempotency: member('object', 'number'),
  renewIdempotency: member('object', 'number'),
  finishIdempotency: member('object', 'bytes', 'bytes'),
  releaseIdempotency: member('object'),

  claimOwnership: 'local',
  findOwnership: 'local',

  findLedger: 'local',
  noteLedger: 'local',
  acceptLedger: 'local',
  openNodes: 'local',
  closeLost: 'local',
  closeLostFiles: 'local',

  signUp: none('object'),
  findPerson: none('text'),
  isVerificationToken: none('bytes'),
  beginVerification: none('bytes'),
  verifyAddress: none('bytes', 'text', 'money', 'text'),
  resendVerification: none('text', 'object'),
  requestPasswordReset: none('text', 'object', 'object'),
  isResetToken: none('bytes'),
  resetPassword: none('bytes', 'text', 'text'),
  changePassword: none('object', 'text'),
  requestAddressChange: none('text', 'text', 'text', 'object', 'text'),
  moveAccount: 'local',
  deletePerson: 'local',
  foundOrganisation: none('text', 'text', 'object'),
  listMembers: first('text'),
  changeRole: first('text', 'text', 'text', 'object'),
  removeMember: first('text', 'text', 'object'),
  inviteFirstOwner: 'local',
  invite: first('text', 'object', 'object'),
  listInvitations: first('text'),
  renewInvitation: first('text', 'text', 'object', 'object'),
  withdrawInvitation: first('text', 'text', 'object'),
  findInvitation: none('bytes'),
  beginJoining: none('bytes', 'text'),
  join: none('object'),
  beginLogin: none('text'),
  noteRefusedLogin: none('object'),
  openConsoleSession: none('object'),
  findConsoleSession: none('bytes', 'object'),
  enterOrganisation: none('bytes', 'text'),
  listMemberships: none('text'),
  noteConsoleSession: none('bytes'),
  beginConfirmation: none('bytes'),
  confirmConsoleSession: none('bytes', 'text'),
  renameConsoleSession: none('bytes', 'bytes'),
  listConsoleSessions: none('text', 'object'),
  endConsoleSession: none('text', 'text', 'text'),
} as const satisfies Rows;

/** The calls that may be made from afar. */
export type RemoteCallName = { [Name in CallName]: (typeof ROWS)[Name] extends 'local' ? never : Name }[CallName];

/** Undefined for what is made only where the database is, and for what is no call at all. */
export function remoteCall(name: string): RemoteCall | undefined {
  const row = Object.hasOwn(ROWS, name) ? ROWS[name as CallName] : 'local';
  return row === 'local' ? undefined : row;
}

/** Whether arguments are of the kinds that a call has: what is in objects and lists is for the tables to say. */
export function haveKinds(args: readonly unknown[], kinds: readonly string[]): boolean {
  return args.length <= kinds.length && kinds.every((kind, index) => isOfKind(args[index], kind));
}

function isOfKind(value: unknown, kind: string): boolean {
  if (kind.endsWith('?')) return value === undefined || isOfKind(value, kind.slice(0, -1));
  switch (kind) {
    case 'text':
      return typeof value === 'string';
    case 'bytes':
      return value instanceof Uint8Array;
    case 'number':
      return typeof value === 'number';
    case 'flag':
      return typeof value === 'boolean';
    case 'money':
      return typeof value === 'bigint';
    case 'list':
      return Array.isArray(value);
    default:
      return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Uint8Array);
  }
}

/** The organisation that arguments name; null where they name none. Undefined where it should be named and is not. */
export function namedOrganisation(names: Naming, [about]: readonly unknown[]): string | null | undefined {
  if (names === 'none') return null;
  const id = names === 'first' ? about : (about as { organisationId?: unknown } | null | undefined)?.organisationId;
  return typeof id === 'string' && id !== '' ? id : undefined;
}
