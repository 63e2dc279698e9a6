// `voxgate ledger …`: checks, exports and backs up the ledger of this machine. How a backup is put back is the store's.
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { usdOf } from '../config/prices/price.ts';
import type { LedgerAudit, LedgerTransfer } from '../money/store/calls.ts';
import { isInUse } from '../node/store/in-use.ts';
import { replicaEntryIn } from '../node/store/replica-file.ts';
import { checkCopy } from '../node/store/restore.ts';
import { openSqliteStore } from '../node/store/sqlite-store.ts';
import type { Store } from '../node/store/store.ts';
import { action, actionsCommand, WrongInput } from './shared/command.ts';
import { databaseIn, dataDirectory, withFile, withStore } from './shared/operator.ts';
import { CommandError, EXIT, print } from './shared/output.ts';
import { restoreHere } from './shared/restore.ts';
import { countValue, outwardJson } from './shared/values.ts';

const PAGE = 1000;
const LEDGER = /^led_[0-9a-f]{24}$/;

const usage = `Usage: voxgate ledger audit [--json]
       voxgate ledger export [--after N]
       voxgate ledger backup FILE
       voxgate ledger restore FILE [--force]
       voxgate ledger accept LEDGER

Works on the data directory of VOXGATE_DATA_DIRECTORY (./data when absent), also
while a gateway uses it. Only restore needs the gateway to be stopped. On a
machine without a database, audit and export ask the node that owns the
accounts, with the variables of the nodes (VOXGATE_NATS).

  audit    recomputes every bill, balance and hold; exit code 0 only if all
           agree. Lists charges above their hold, each with its reason. With
           --json the last line is JSON
  export   prints every movement of money as a line of JSON, oldest first;
           --after N begins after number N
  backup   writes a complete, consistent copy of the database to a new file, and
           checks it
  restore  checks such a copy and puts it in place of the database. --force
           replaces one that exists, which is kept under another name. Sessions
           settled since the copy are settled again, as far as the usage
           history goes back: those of this machine immediately, those of other
           nodes when the gateway has started and they send their history
  accept   makes this database take the place of the ledger LEDGER when its node
           starts, for all nodes. With its own name it continues from an older
           copy. A node that is refused names that ledger. A database that was
           one of several replicas leaves their log: only if NATS or the others
           are lost for good`;

/** A database that was a replica takes the place of the others: it no longer needs their log. */
async function leaveLog(): Promise<void> {
  const directory = dataDirectory();
  if (replicaEntryIn(directory) === 0) return;
  if (isInUse(databaseIn(directory)))
    throw new CommandError(`a gateway has ${databaseIn(directory)} open, which is a replica of the accounts: stop it.`);
  const store = await openSqliteStore({ directory });
  await store.replica({ ask: 'leave' }).finally(() => store.close());
}

/** The ledger in the database of this machine, such as that of a replica; without one, that of the node that owns the accounts. */
function withCopy<Result>(work: (store: Store) => Promise<Result>): Promise<Result> {
  return existsSync(databaseIn(dataDirectory())) ? withFile({ make: false }, work) : withStore({ make: false }, work);
}

export const ledger = actionsCommand(usage, {
  audit: action({
    operands: [],
    options: { json: { type: 'boolean' } },
    async run(_, { json = false }) {
      const audit = await withCopy((store) => store.auditLedger());
      if (json) print(outwardJson(audit));
      else printAudit(audit);
      return audit.ok ? EXIT.ok : EXIT.failed;
    },
  }),
  export: action({
    operands: [],
    options: { after: { type: 'string' } },
    async run(_, { after = '0' }) {
      const first = countValue('--after', after);
      await withCopy(async (store) => {
        let page: LedgerTransfer[] = [];
        let last = first;
        do {
          page = await store.exportLedger(last, PAGE);
          for (const transfer of page) print(outwardJson(transfer));
          last = page.at(-1)?.number ?? last;
        } while (page.length > 0);
      });
      return EXIT.ok;
    },
  }),
  backup: action({
    operands: ['FILE'],
    options: {},
    async run([name = '']) {
      const file = resolve(name);
      const { pages } = await withFile({ make: false }, (store) => store.backup(file));
      const { sessions, transfers } = checkCopy(file);
      print(`${file} has ${pages} pages with ${sessions} sessions and ${transfers} transfers; its ledger agrees.`);
      return EXIT.ok;
    },
  }),
  accept: action({
    operands: ['LEDGER'],
    options: {},
    async run([name = '']) {
      if (!LEDGER.test(name)) throw new WrongInput('A ledger is `led_` and 24 small hexadecimal digits.');
      await leaveLog();
      const { id } = await withFile({ make: false }, (store) => store.acceptLedger(name));
      if (id === name) print(`The ledger ${id} goes on from where this copy of it ends.`);
      else print(`The ledger ${id} takes the place of ${name} when its node starts.`);
      return EXIT.ok;
    },
  }),
  restore: action({
    operands: ['FILE'],
    options: { force: { type: 'boolean' } },
    async run([name = ''], { force = false }) {
      await restoreHere(resolve(name), force);
      return EXIT.ok;
    },
  }),
});

function printAudit({
  ok,
  sessions,
  transfers,
  openHolds,
  oldestHoldMs,
  sumMicroUsd,
  faults,
  decisions,
}: LedgerAudit): void {
  const age = oldestHoldMs === null ? '' : `, the oldest for ${Math.round(oldestHoldMs / 1000)} s`;
  print(`sessions    ${sessions}`);
  print(`transfers   ${transfers}`);
  print(`open holds  ${openHolds}${age}`);
  print(`sum         ${usdOf(sumMicroUsd)} USD over all accounts`);
  for (const decision of decisions) print(`decision    ${decision}`);
  for (const fault of faults) print(`fault       ${fault}`);
  print(ok ? 'The ledger agrees.' : 'The ledger does not agree.');
}
