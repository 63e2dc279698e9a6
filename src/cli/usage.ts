// `voxgate usage …`: what an organisation used and what it cost, from the ledger of this machine; and usage that the ledger rejected, which
// is not billed until an operator looks at it.

import { TAG_KEY } from '../api/tags.ts';
import { FIRST_SHARD } from '../cluster/accounts/protocol.ts';
import type { BusBody } from '../cluster/bus/bus.ts';
import { type RefusedUsage, refusedUsage, removeRefusedUsage } from '../cluster/bus/nats/jetstream/usage-stream.ts';
import type { SigningKeys } from '../cluster/bus/signed.ts';
import { lineCostMicroUsd, usdOf } from '../config/prices/price.ts';
import { countedRedactions } from '../money/counted-redactions.ts';
import { readUsage, usageKeys } from '../money/ledger/usage-stream.ts';
import type { UsageGroup, UsageRow } from '../money/store/calls.ts';
import { withBus } from './shared/bus.ts';
import { action, type Command, explained, WrongInput } from './shared/command.ts';
import { requireOrganisation, withStore } from './shared/operator.ts';
import { CommandError, EXIT, print, printTable } from './shared/output.ts';
import { tagValue } from './shared/tags.ts';
import { outwardJson, timeValue } from './shared/values.ts';

const GROUPS = ['model', 'provider', 'day', 'key'] as const;
const GROUP_OF_TAG = new RegExp(`^tag:${TAG_KEY}$`);

const text = `Usage: voxgate usage ORG_ID [--from TIME] [--to TIME]
                     [--by model|provider|day|key|tag:KEY] [--tag KEY:VALUE]
                     [--json]
       voxgate usage refused [--clear NUMBER|all] [--json]

Prints what an organisation used and what it cost: its sessions and files that
were opened in a time, and how often the gateway redacted something.

  --from  a day (its start in UTC) or a time such as 2026-12-31T18:00:00Z; the
          first of this month when absent
  --to    the end, in the same form, not included; now when absent
  --by    groups the rows; by model when absent. tag:customer groups by the
          values of the tag customer; --group-by is the same option
  --tag   only sessions and files with this tag, such as customer:acme
  --json  prints one JSON object

refused lists usage that the ledger refused (voxgate_usage_put_aside). It is
billed to no customer, and the accounts node tries it again at each start. The
command asks NATS, with the variables of the nodes.

  --clear  removes one message by its number, or all, for good
  --json   prints one JSON object for each message`;

const show = action({
  operands: ['ORG_ID'],
  options: {
    from: { type: 'string' },
    to: { type: 'string' },
    by: { type: 'string' },
    'group-by': { type: 'string' },
    tag: { type: 'string' },
    json: { type: 'boolean' },
  },
  async run([organisationId = ''], values) {
    const now = new Date().toISOString();
    const from = values.from === undefined ? `${now.slice(0, 7)}-01T00:00:00.000Z` : timeValue('--from', values.from);
    const to = values.to === undefined ? now : timeValue('--to', values.to);
    if (from > to) throw new WrongInput(`--from (${from}) is after --to (${to}).`);
    const groupBy = groupValue(values.by ?? values['group-by'] ?? 'model');
    const filter = values.tag === undefined ? {} : { tag: tagValue('--tag', values.tag) };
    const { rows, redactions } = await withStore({ make: false, reads: true }, async (store) => {
      await requireOrganisation(store, organisationId);
      return {
        rows: await store.usageOf({ organisationId, from, to, groupBy, ...filter }),
        redactions: await countedRedactions(store, { organisationId, from, to, ...filter }),
      };
    });
    const totalMicroUsd = rows.reduce((sum, row) => sum + row.costMicroUsd, 0n);
    if (values.json) print(outwardJson({ organisationId, from, to, groupBy, rows, totalMicroUsd, redactions }));
    else {
      printRows(rows, groupBy, totalMicroUsd);
      const counts = Object.entries(redactions).map(([name, count]) => `${count} ${name}`);
      if (counts.length > 0) print(`Redacted: ${counts.join(', ')}.`);
    }
  },
});

const refused = action({
  operands: [],
  options: { clear: { type: 'string' }, json: { type: 'boolean' } },
  run: (_, { clear, json = false }) => {
    const only = clear === undefined || clear === 'all' ? undefined : numberOf(clear);
    return withBus(async (bus, secrets) => {
      const all = await refusedUsage(bus, FIRST_SHARD);
      if (clear === undefined) {
        printRefused(all, usageKeys(secrets), json);
        return EXIT.ok;
      }
      const numbers = only === undefined ? all.map(({ number }) => number) : [only];
      for (const number of numbers) {
        if (!(await removeRefusedUsage(bus, FIRST_SHARD, number)))
          throw new CommandError(`there is no refused usage with the number ${number}.`);
      }
      print(numbers.length === 1 ? '1 message was removed.' : `${numbers.length} messages were removed.`);
      return EXIT.ok;
    });
  },
});

export const usage: Command = {
  usage: text,
  run: (args) =>
    explained(text, () => (args[0] === 'refused' ? refused.run(text, args.slice(1)) : show.run(text, args))),
};

function groupValue(text: string): UsageGroup {
  if (GROUP_OF_TAG.test(text)) return text as `tag:${string}`;
  const group = GROUPS.find((each) => each === text);
  if (group !== undefined) return group;
  throw new WrongInput(`--by is one of ${GROUPS.join(', ')}, or a tag such as tag:customer.`);
}

function printRows(rows: readonly UsageRow[], groupBy: UsageGroup, totalMicroUsd: bigint): void {
  const audioMs = rows.reduce((sum, row) => sum + row.audioMs, 0);
  printTable([
    [groupBy.toUpperCase(), 'OWN KEY', 'SESSIONS', 'AUDIO, S', 'COST, USD'],
    ...rows.map(({ group, own, sessions, audioMs: ms, costMicroUsd }) => [
      group ?? '(no tag)',
      own ? 'yes' : 'no',
      String(sessions),
      seconds(ms),
      usdOf(costMicroUsd),
    ]),
    // A session may be in more than one row, so that there is no sum of them.
    ['all', '', '', seconds(audioMs), usdOf(totalMicroUsd)],
  ]);
}

const seconds = (ms: number): string => (ms / 1000).toFixed(3);

function numberOf(text: string): number {
  if (/^\d{1,15}$/.test(text)) return Number(text);
  throw new WrongInput('--clear takes the number of a message, or all.');
}

function printRefused(all: readonly RefusedUsage[], keys: SigningKeys, json: boolean): void {
  const rows = all.map((each) => rowOf(each, keys));
  if (json) for (const row of rows) print(outwardJson(row));
  else if (rows.length === 0) print('No usage was refused.');
  else {
    printTable([
      ['NUMBER', 'PUT ASIDE', 'SESSION', 'ORGANISATION', 'MODEL', 'COST, USD'],
      ...rows.map(({ number, at, session, organisationId, model, costMicroUsd }) => [
        String(number),
        at,
        session ?? 'unreadable: not written by a node of this gateway',
        organisationId ?? '',
        model ?? '',
        costMicroUsd === null ? '' : usdOf(costMicroUsd),
      ]),
    ]);
  }
}

function rowOf({ number, at, data }: RefusedUsage, keys: SigningKeys) {
  const message = messageOf(data, keys);
  if (message === undefined)
    return { number, at, session: null, organisationId: null, model: null, costMicroUsd: null };
  const { head, end } = message;
  const costMicroUsd = end.lines.reduce((sum, line) => sum + lineCostMicroUsd(line), 0n);
  return { number, at, session: head.id, organisationId: head.organisationId, model: head.model, costMicroUsd };
}

function messageOf(data: Uint8Array, keys: SigningKeys) {
  try {
    const message = readUsage(keys, JSON.parse(Buffer.from(data).toString()) as BusBody);
    return typeof message === 'string' ? undefined : message;
  } catch {
    return undefined;
  }
}
