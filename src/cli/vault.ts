// `voxgate vault …`: provider keys of organisations whose people have no browser here, which key of the vault seals them, and the
// move to a new one. The secrets themselves are never shown.
import { readFileSync } from 'node:fs';
import { text as textOf } from 'node:stream/consumers';
import { type KeyRing, loadKeyRing } from '../accounts/vault/key-ring.ts';
import { createRemoteVault } from '../accounts/vault/remote.ts';
import type { ProviderKey } from '../accounts/vault/store.ts';
import { rotateVault, type Vault } from '../accounts/vault/vault.ts';
import { ApiError } from '../api/errors.ts';
import type { Store } from '../node/store/store.ts';
import { openVault } from '../node/vault.ts';
import { systemClock } from '../runtime/telemetry/clock.ts';
import { createLogger } from '../runtime/telemetry/log.ts';
import { providers, providersWith } from '../vendors/index.ts';
import { apiKeyForm } from '../vendors/kit/credentials.ts';
import { action, actionsCommand, WrongInput } from './shared/command.ts';
import { operator, requireOrganisation, withAccounts, withStore } from './shared/operator.ts';
import { CommandError, print, printTable, tell } from './shared/output.ts';
import { loadSettings } from './shared/settings.ts';
import { outwardJson } from './shared/values.ts';

const usage = `Usage: voxgate vault put ORG_ID PROVIDER [--name NAME] [--file PATH]
       voxgate vault list ORG_ID [--json]
       voxgate vault test ORG_ID KEY_ID
       voxgate vault remove ORG_ID KEY_ID
       voxgate vault status [--json]
       voxgate vault rotate [--dry-run]

With VOXGATE_NATS, asks the node that owns the accounts, from any machine with
the variables of the nodes. Without, works on the data directory of
VOXGATE_DATA_DIRECTORY (./data when absent), also while a gateway uses it. A
running gateway applies changes within 30 seconds.

  put     tests a key at its provider and stores it in place of the
          organisation's former key there. The secret is read from --file or
          standard input, and is never an argument. For a provider with several
          members it is a JSON object: {"key": "…", "region": "westeurope"}
  list    lists the provider keys of an organisation, without their secrets
  test    tests a stored key at its provider; exit code 0 only if it is accepted
  remove  removes a provider key
  status  opens every stored key, and prints how many are sealed with which key
          of the vault
  rotate  seals all of them with the current key of the vault, or none of them;
          --dry-run only counts

To change the key of the vault: set VOXGATE_VAULT_KEY to the new one
(openssl rand -base64 32) and VOXGATE_VAULT_KEY_PREVIOUS to the old one, restart
every gateway, run voxgate vault rotate, and remove the old one.`;

export const vault = actionsCommand(usage, {
  put: action({
    operands: ['ORG_ID', 'PROVIDER'],
    options: { name: { type: 'string' }, file: { type: 'string' } },
    run: ([organisationId = '', provider = ''], { name = provider, file }) =>
      withKeys(async (vault) => {
        const fields = fieldsOf(provider, await readSecret(file));
        const { key, warning } = await vault.save(organisationId, { provider, name, fields }, operator());
        if (warning !== undefined) tell(warning);
        print(key.id);
        return undefined;
      }),
  }),
  list: action({
    operands: ['ORG_ID'],
    options: { json: { type: 'boolean' } },
    run: ([organisationId = ''], { json = false }) =>
      withKeys(async (vault, store) => {
        await requireOrganisation(store, organisationId);
        const keys = await vault.list(organisationId);
        if (json) print(outwardJson(keys, 2));
        else printTable([['ID', 'PROVIDER', 'NAME', 'ENDS IN', 'STATE', 'USED'], ...keys.map(row)]);
        return undefined;
      }),
  }),
  test: action({
    operands: ['ORG_ID', 'KEY_ID'],
    options: {},
    run: ([organisationId = '', keyId = '']) =>
      withKeys(async (vault, store) => {
        await requireOrganisation(store, organisationId);
        const { key, warning } = await vault.test(organisationId, keyId, operator());
        if (warning !== undefined) throw new CommandError(warning);
        if (key.state !== 'usable') throw new CommandError(`${key.provider} does not accept ${keyId}.`);
        print(`${key.provider} accepts ${keyId}.`);
        return undefined;
      }),
  }),
  remove: action({
    operands: ['ORG_ID', 'KEY_ID'],
    options: {},
    run: ([organisationId = '', keyId = '']) =>
      withKeys(async (vault) => {
        await vault.remove(organisationId, keyId, operator());
        print(`${keyId} is removed.`);
        return undefined;
      }),
  }),
  status: action({
    operands: [],
    options: { json: { type: 'boolean' } },
    run: (_, { json = false }) =>
      withVault(async (store, ring) => {
        const { moved } = await rotateVault(store, ring, operator(), true);
        const keys = await store.countSealedBy();
        const status = { current: ring.current.id, previous: ring.previous?.id ?? null, keys, toMove: moved };
        if (json) print(JSON.stringify(status));
        else printStatus(status);
        return undefined;
      }),
  }),
  rotate: action({
    operands: [],
    options: { 'dry-run': { type: 'boolean' } },
    run: (_, { 'dry-run': dryRun = false }) =>
      withVault(async (store, ring) => {
        const { moved, current } = await rotateVault(store, ring, operator(), dryRun);
        const what = dryRun ? 'would be moved' : 'were moved';
        print(`${moved} provider keys ${what} to the key ${ring.current.id}; ${current} had it already.`);
        return undefined;
      }),
  }),
});

function withVault<Result>(work: (store: Store, ring: KeyRing) => Promise<Result>): Promise<Result> {
  const { directory, vaultKey, vaultKeyPrevious } = loadSettings().data;
  return withStore({ make: false }, async (store) =>
    work(store, await loadKeyRing({ store, current: vaultKey, previous: vaultKeyPrevious, directory })),
  );
}

/** The work on the vault as a gateway has it, of the owner or of this machine. What it refuses is told in its own words. */
async function withKeys<Result>(work: (vault: Vault, store: Store) => Promise<Result>): Promise<Result> {
  const closers: (() => unknown)[] = [];
  try {
    return await withAccounts({ make: false }, async ({ store, ask }) =>
      work(
        ask === undefined
          ? await ownVault(store, (close) => void closers.push(close))
          : createRemoteVault({ ask, store, clock: systemClock, onFault: () => {} }),
        store,
      ),
    );
  } catch (error) {
    throw error instanceof ApiError ? new CommandError(error.message) : error;
  } finally {
    for (const close of closers) await close();
  }
}

async function ownVault(store: Store, defer: (close: () => unknown) => void): Promise<Vault> {
  const config = loadSettings();
  const { vault } = await openVault({
    config,
    providers: providersWith(config.custom, config.localModels),
    logger: createLogger('silent'),
    clock: systemClock,
    store,
    defer,
  });
  return vault;
}

/** From the file, or from what is piped in: an argument would stand in the list of processes and in the shell's history. */
async function readSecret(file: string | undefined): Promise<string> {
  if (file === undefined && process.stdin.isTTY === true) {
    throw new WrongInput('pipe the secret in, or name its file with --file.');
  }
  const text = file === undefined ? await textOf(process.stdin) : readFileSync(file, 'utf8');
  return text.trim();
}

/** The members of a provider's credential: a JSON object of them, or the only one that has to be there. */
function fieldsOf(provider: string, secret: string): unknown {
  if (secret.startsWith('{')) {
    try {
      return JSON.parse(secret);
    } catch {
      throw new WrongInput('the secret begins like a JSON object and is none.');
    }
  }
  const [only, ...others] =
    (providers.find(({ name }) => name === provider)?.credentialForm ?? apiKeyForm).required ?? [];
  if (only === undefined || others.length > 0) {
    throw new WrongInput(`a key of ${provider} is a JSON object with ${[only, ...others].join(', ')}.`);
  }
  return { [only]: secret };
}

const row = ({ id, provider, name, lastFour, state, usedAt }: ProviderKey): string[] => [
  id,
  provider,
  name,
  lastFour,
  state,
  usedAt ?? '-',
];

interface Status {
  current: string;
  previous: string | null;
  keys: { kekId: string; keys: number }[];
  toMove: number;
}

function printStatus({ current, previous, keys, toMove }: Status): void {
  print(`The current key of the vault is ${current}${previous === null ? '' : `, the previous one ${previous}`}.`);
  for (const { kekId, keys: count } of keys) print(`${count} provider keys are under ${kekId}.`);
  if (keys.length === 0) print('No provider key is kept.');
  if (toMove > 0) print(`${toMove} are to be moved: voxgate vault rotate`);
}
