// `voxgate usage ORG_ID`: what an organisation used and what it cost, from the ledger of this machine. What it refused is
// refused-usage.ts.
import { usdOf } from '../config/prices/price.ts';
import type { UsageGroup, UsageRow } from '../money/store/calls.ts';
import { refused } from './refused-usage.ts';
import { action, explained, WrongInput } from './shared/actions.ts';
import type { Command } from './shared/command.ts';
import { requireOrganisation, withStore } from './shared/operator.ts';
import { print, printTable } from './shared/output.ts';
import { choiceValue, outwardJson, timeValue } from './shared/values.ts';

const GROUPS: readonly UsageGroup[] = ['model', 'provider', 'day', 'key'];

const text = `Usage: voxgate usage ORG_ID [--from TIME] [--to TIME]
                     [--by model|provider|day|key] [--json]
       voxgate usage refused [--clear NUMBER|all] [--json]

Prints what an organisation used and what it cost: its sessions and files that
were opened in a time.

  --from  a day (its start in UTC) or a time such as 2026-12-31T18:00:00Z; the
          first of this month when absent
  --to    the end, in the same form, not included; now when absent
  --by    groups the rows; by model when absent
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
    json: { type: 'boolean' },
  },
  async run([organisationId = ''], values) {
    const now = new Date().toISOString();
    const from = values.from === undefined ? `${now.slice(0, 7)}-01T00:00:00.000Z` : timeValue('--from', values.from);
    const to = values.to === undefined ? now : timeValue('--to', values.to);
    if (from > to) throw new WrongInput(`--from (${from}) is after --to (${to}).`);
    const groupBy = choiceValue('--by', values.by ?? 'model', GROUPS);
    const rows = await withStore({ make: false }, async (store) => {
      await requireOrganisation(store, organisationId);
      return store.usageOf({ organisationId, from, to, groupBy });
    });
    const totalMicroUsd = rows.reduce((sum, row) => sum + row.costMicroUsd, 0n);
    if (values.json) print(outwardJson({ organisationId, from, to, groupBy, rows, totalMicroUsd }));
    else printRows(rows, groupBy, totalMicroUsd);
  },
});

export const usage: Command = {
  usage: text,
  run: (args) =>
    explained(text, () => (args[0] === 'refused' ? refused.run(text, args.slice(1)) : show.run(text, args))),
};

function printRows(rows: readonly UsageRow[], groupBy: UsageGroup, totalMicroUsd: bigint): void {
  const audioMs = rows.reduce((sum, row) => sum + row.audioMs, 0);
  printTable([
    [groupBy.toUpperCase(), 'OWN KEY', 'SESSIONS', 'AUDIO, S', 'COST, USD'],
    ...rows.map(({ group, own, sessions, audioMs: ms, costMicroUsd }) => [
      group,
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
