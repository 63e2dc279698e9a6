// `voxgate accounts …`: the nodes that keep the accounts, each asked over NATS: how far each has come, whether their contents are equal,
// a copy of one, and the owner's place for another one.
import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { FIRST_SHARD } from '../cluster/accounts/protocol.ts';
import { BusError } from '../cluster/bus/bus.ts';
import type { NatsBus } from '../cluster/bus/nats/bus.ts';
import { natsLeases } from '../cluster/bus/nats/jetstream/leases.ts';
import type { SigningSecrets } from '../cluster/bus/signed.ts';
import { OPERATOR_SNAPSHOT } from '../cluster/bus/subjects.ts';
import { callRoll } from '../cluster/membership/roll-call.ts';
import { askKeepers, type Content, type KeeperState, type Keepers, Refused } from '../cluster/replication/operators.ts';
import { fetchSnapshot } from '../cluster/replication/snapshots.ts';
import { closeLog } from '../node/store/replica-file.ts';
import { checkCopy } from '../node/store/restore.ts';
import { withBus } from './shared/bus.ts';
import { action, actionsCommand } from './shared/command.ts';
import { CommandError, EXIT, print, printTable, tell } from './shared/output.ts';
import { operatorClient, ownerOf, requirePermission } from './shared/owner.ts';
import { requireWritable } from './shared/values.ts';

const PROMOTE_MS = 30_000;
const TAKEN_OVER_MS = 20_000;
const AGAIN_MS = 200;
/** Reading a large database takes a while. */
const CONTENT_MS = 600_000;

const usage = `Usage: voxgate accounts status [--json]
       voxgate accounts promote NODE
       voxgate accounts snapshot FILE [--node NODE]
       voxgate accounts verify [--json]

Asks the nodes that keep the accounts, with the variables of the nodes
(VOXGATE_NATS). NODE is the VOXGATE_NODE_ID of one.

  status    lists them: which one owns the accounts, how many entries each is
            behind it, and when the last entry came. An owner writes an entry at
            least every second. Exit code 1 without an owner
  promote   lets a standby own the accounts: the owner hands them over once the
            standby has every entry, and ends: its supervisor starts it again
  snapshot  writes a complete, consistent copy of a node's database to a new
            file, and checks it. Without --node, of a standby if there is one.
            The copy contains its position in the log
  verify    compares the content of all of them at the same entry, table by
            table, and audits the ledger of each. Exit code 1 if anything
            differs or a node is missing`;

interface Kept extends KeeperState {
  /** Its incarnation. */
  node: string;
}

interface Found {
  kept: Kept[];
  /** Those that should be there and do not answer. */
  silent: string[];
}

export const accounts = actionsCommand(usage, {
  status: action({
    operands: [],
    options: { json: { type: 'boolean' } },
    run: (_, { json = false }) =>
      withKeepers(async ({ found: { kept, silent } }) => {
        const rows = [...kept.map((each) => ({ ...each, behind: behindOf(each, kept) }))];
        if (json) {
          for (const row of rows) print(JSON.stringify(row));
          for (const id of silent) print(JSON.stringify({ id, role: 'silent' }));
        } else if (rows.length + silent.length === 0) print('No node that keeps the accounts is there.');
        else printTable([HEAD, ...rows.map(rowOf), ...silent.map((id) => [id, 'silent', '', '', '', '', ''])]);
        if (ownerIn(kept) !== undefined) return EXIT.ok;
        tell('No node owns the accounts at present.');
        return EXIT.failed;
      }),
  }),
  promote: action({
    operands: ['NODE'],
    options: {},
    run: ([id = '']) => withKeepers((keepers) => promote(keepers, id)),
  }),
  snapshot: action({
    operands: ['FILE'],
    options: { node: { type: 'string' } },
    run: ([name = ''], { node }) => {
      const file = resolve(name);
      if (existsSync(file)) throw new CommandError(`${file} is there already; name a new file.`);
      requireWritable(file);
      return withKeepers(async ({ bus, secrets, found: { kept } }) => {
        const from =
          node === undefined ? (kept.find(({ role }) => role === 'standby') ?? ownerIn(kept)) : named(kept, node);
        if (from === undefined) throw noOwner();
        await fetchSnapshot(
          { bus, ...secrets, shard: FIRST_SHARD, of: { node: from.node, service: OPERATOR_SNAPSHOT } },
          file,
        );
        closeLog(file);
        const { sessions, transfers } = checkCopy(file);
        print(
          `${file} is a copy of ${from.id} with ${sessions} sessions and ${transfers} transfers; its ledger agrees.`,
        );
        return EXIT.ok;
      });
    },
  }),
  verify: action({
    operands: [],
    options: { json: { type: 'boolean' } },
    run: (_, { json = false }) => withKeepers((keepers) => verify(keepers, json)),
  }),
});

interface AskedKeepers {
  bus: NatsBus;
  secrets: SigningSecrets;
  keepers: Keepers;
  found: Found;
}

function withKeepers(work: (keepers: AskedKeepers) => Promise<number>): Promise<number> {
  return withBus(async (bus, secrets) => {
    const keepers = askKeepers(bus);
    try {
      return await work({ bus, secrets, keepers, found: await findKeepers(bus, keepers) });
    } catch (error) {
      if (error instanceof BusError) requirePermission(error);
      throw error instanceof Refused ? new CommandError(error.message) : error;
    }
  });
}

async function findKeepers(bus: NatsBus, keepers: Keepers): Promise<Found> {
  const nodes = await callRoll(bus, natsLeases(bus));
  const states = await Promise.all(
    nodes.map(async ({ id, node, status, missing }) => {
      const mayKeep = (status ?? missing)?.roles.includes('accounts') ?? false;
      const state = mayKeep && status !== undefined ? await keepers.state(node) : undefined;
      return { id, node, mayKeep, state };
    }),
  );
  return {
    kept: states.flatMap(({ node, state }) => (state === undefined ? [] : [{ ...state, node }])),
    silent: states.flatMap(({ id, mayKeep, state }) => (mayKeep && state === undefined ? [id] : [])),
  };
}

/** Of two that say so, the one of the later epoch: the other was deposed and has not noticed yet. */
function ownerIn(kept: readonly Kept[]): Kept | undefined {
  return kept
    .filter(({ role }) => role === 'owner' || role === 'single')
    .sort((one, other) => other.epoch - one.epoch)[0];
}

const noOwner = () =>
  new CommandError('no node owns the accounts at present: voxgate accounts status shows them.', EXIT.temporary);

function named(kept: readonly Kept[], id: string): Kept {
  const found = kept.find((each) => each.id === id);
  if (found !== undefined) return found;
  const known = kept.length === 0 ? 'none answers' : kept.map((each) => each.id).join(', ');
  throw new CommandError(`no node ${JSON.stringify(id)} that keeps the accounts answers; there are: ${known}.`);
}

const behindOf = ({ role, entry }: Kept, kept: readonly Kept[]): number | null =>
  role === 'joining' ? null : Math.max(0, ...kept.map((each) => each.entry)) - entry;

const HEAD = ['NODE', 'ROLE', 'EPOCH', 'ENTRY', 'BEHIND', 'LAST ENTRY', 'VERSION'] as const;

function rowOf({
  id,
  role,
  epoch,
  entry,
  behind,
  heardMsAgo,
  version,
  isSure,
}: Kept & { behind: number | null }): string[] {
  const shownRole = role === 'owner' && !isSure ? 'owner, unsure' : role;
  const heard = heardMsAgo === null ? '' : `${(heardMsAgo / 1000).toFixed(1)} s ago`;
  if (role === 'single' || role === 'joining') return [id, shownRole, '', '', '', '', version];
  return [id, shownRole, String(epoch), String(entry), String(behind), heard, version];
}

async function promote({ keepers, bus, found: { kept } }: AskedKeepers, id: string): Promise<number> {
  const to = named(kept, id);
  const owner = ownerIn(kept);
  if (to.role === 'single') throw new CommandError(`${id} is the only node that keeps the accounts.`);
  if (to.node === owner?.node) {
    print(`${id} owns the accounts already.`);
    return EXIT.ok;
  }
  if (owner === undefined)
    throw new CommandError(
      'no node owns the accounts that could hand them over: a standby takes over within seconds.',
      EXIT.temporary,
    );
  const startMs = performance.now();
  await keepers.promote(owner.node, { id: to.id, node: to.node }, PROMOTE_MS);
  while (performance.now() - startMs < TAKEN_OVER_MS) {
    const state = await keepers.state(to.node);
    if (state?.role === 'owner') {
      const seconds = ((performance.now() - startMs) / 1000).toFixed(1);
      print(
        `${id} owns the accounts after ${seconds} s, in epoch ${state.epoch}; ${owner.id} ends, and follows once its supervisor has started it again.`,
      );
      return EXIT.ok;
    }
    const other = ownerIn((await findKeepers(bus, keepers)).kept);
    if (other !== undefined && other.epoch > owner.epoch && other.id !== id)
      throw new CommandError(`${other.id} was quicker and owns the accounts, in epoch ${other.epoch}.`);
    await pause(AGAIN_MS);
  }
  throw new CommandError(
    `${owner.id} has handed the accounts over, and ${id} does not own them yet: voxgate accounts status shows them.`,
    EXIT.temporary,
  );
}

interface Verified {
  id: string;
  content: Content | undefined;
  ledger: { ok: boolean; faults: readonly string[] };
}

async function verify(
  { bus, secrets, keepers, found: { kept, silent } }: AskedKeepers,
  json: boolean,
): Promise<number> {
  const owner = ownerIn(kept);
  if (owner === undefined) throw noOwner();
  const mark = randomUUID();
  if (owner.role === 'owner') {
    const client = operatorClient(bus, secrets);
    // Learns which node owns the accounts; without an answer the next call says so.
    await client.greet().catch(() => {});
    await ownerOf(client).store.markContent(mark);
  }
  const compared = kept.filter(({ role }) => role !== 'joining');
  const verified = await Promise.all(
    compared.map(async ({ id, node, role }): Promise<Verified> => {
      const content = role === 'single' ? undefined : await keepers.content(node, mark, CONTENT_MS);
      return { id, content, ledger: await keepers.audit(node, CONTENT_MS) };
    }),
  );
  const left = [...kept.filter(({ role }) => role === 'joining').map(({ id }) => id), ...silent];
  const ofOwner = verified.find(({ id }) => id === owner.id)?.content;
  const nodes = verified.map(({ id, content, ledger }) => ({
    node: id,
    entry: content?.entry ?? null,
    differing: owner.role === 'single' ? [] : differing(ofOwner, content),
    ledgerAgrees: ledger.ok,
    faults: ledger.faults,
  }));
  if (json) print(JSON.stringify({ owner: owner.id, nodes, notCompared: left }));
  else printVerified(nodes, owner);
  if (left.length > 0) tell(`Not compared, because they do not answer or are joining: ${left.join(', ')}.`);
  const isWhole = nodes.length >= owner.replicas;
  if (!isWhole) tell(`Only ${nodes.length} of ${owner.replicas} nodes were compared.`);
  const isGood = nodes.every(
    ({ differing: tables, ledgerAgrees }) => tables !== undefined && tables.length === 0 && ledgerAgrees,
  );
  return isGood && isWhole && left.length === 0 ? EXIT.ok : EXIT.failed;
}

/** The tables with other rows; undefined when one of the two has not reached the entry. */
function differing(ofOwner: Content | undefined, content: Content | undefined): string[] | undefined {
  if (ofOwner === undefined || content === undefined || ofOwner.entry !== content.entry) return undefined;
  const names = new Set([...Object.keys(ofOwner.tables), ...Object.keys(content.tables)]);
  return [...names].filter((name) => ofOwner.tables[name]?.hash !== content.tables[name]?.hash).sort();
}

function printVerified(
  nodes: readonly {
    node: string;
    entry: number | null;
    differing: string[] | undefined;
    ledgerAgrees: boolean;
    faults: readonly string[];
  }[],
  owner: Kept,
): void {
  for (const { node, entry, differing: tables, ledgerAgrees, faults } of nodes) {
    if (tables === undefined) print(`${node}: did not reach the entry within 10 s; nothing was compared.`);
    else if (tables.length > 0) print(`${node}: differs from ${owner.id} at entry ${entry} in ${tables.join(', ')}.`);
    else if (entry !== null) print(`${node}: has the content of ${owner.id} at entry ${entry}.`);
    print(
      `${node}: its ledger ${ledgerAgrees ? 'agrees' : `does not agree: ${faults[0] ?? ''}`}${ledgerAgrees ? '.' : ''}`,
    );
  }
  if (owner.role === 'single')
    print(`${owner.id} is the only node that keeps the accounts: there is nothing to compare.`);
}
