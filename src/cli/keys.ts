// `voxgate keys create|list|revoke`: API keys, on the data directory of this machine; a running gateway hears of it at once.
import { openSqliteStore } from '../store/sqlite.ts';
import type { Store } from '../store/store.ts';
import { type Command, readArguments } from './command.ts';
import { CommandError, EXIT, print, printTable, tell } from './output.ts';
import { loadSettings } from './settings.ts';

const usage = `Usage: voxgate keys create [--name NAME] [--org ID]
       voxgate keys list [--json]
       voxgate keys revoke KEY_ID

Works on the data directory that VOXGATE_DATA_DIRECTORY names (./data), also while a gateway runs on it.

  create  makes a key and prints it; it is shown only this once
  list    lists keys, never the keys themselves
  revoke  ends a key and every client token it minted`;

export const keys: Command = {
  name: 'keys',
  summary: 'create, list or revoke API keys',
  usage,
  async run(args) {
    const { values, positionals } = readArguments({ usage }, args, {
      name: { type: 'string' },
      org: { type: 'string' },
      json: { type: 'boolean' },
    });
    const [action, keyId] = positionals;
    if (action !== 'create' && action !== 'list' && action !== 'revoke') {
      throw new CommandError(`name one of create, list and revoke.\n\n${usage}`, EXIT.usage);
    }
    const store = await openSqliteStore({ directory: loadSettings().data.directory });
    try {
      if (action === 'create') await create(store, values.name ?? 'key', values.org);
      else if (action === 'list') await list(store, values.json ?? false);
      else await revoke(store, keyId);
    } finally {
      await store.close();
    }
    return EXIT.ok;
  },
};

async function create(store: Store, name: string, organisationId: string | undefined): Promise<void> {
  const first = await store.bootstrap();
  const organisation = organisationId ?? first?.organisation.id ?? (await store.listOrganisations())[0]?.id;
  if (organisation === undefined) throw new CommandError('there is no organisation yet; start the gateway once.');
  const { key, secret } =
    first !== undefined && organisationId === undefined ? first : await store.createKey(organisation, name);
  tell(`Key ${key.id} of ${key.organisationId}. It is shown only this once:`);
  print(secret);
}

async function list(store: Store, asJson: boolean): Promise<void> {
  const found = await store.listKeys();
  if (asJson) {
    print(JSON.stringify(found, null, 2));
    return;
  }
  printTable([
    ['ID', 'NAME', 'KEY', 'ORGANISATION', 'CREATED', 'REVOKED'],
    ...found.map((key) => [key.id, key.name, key.display, key.organisationId, key.createdAt, key.revokedAt ?? '-']),
  ]);
}

async function revoke(store: Store, keyId: string | undefined): Promise<void> {
  if (keyId === undefined)
    throw new CommandError(`name the key's id; voxgate keys list shows them.\n\n${usage}`, EXIT.usage);
  const key = await store.revokeKey(keyId);
  if (key === undefined) throw new CommandError(`there is no key ${keyId}; voxgate keys list shows them.`);
  print(`${key.id} is revoked since ${key.revokedAt}.`);
}
