// `voxgate usage refused`: usage of sessions and files that the ledger refused, which is billed to nobody until an operator looks.

import { FIRST_SHARD } from '../cluster/accounts/shards.ts';
import type { BusBody } from '../cluster/bus/bus.ts';
import { type RefusedUsage, refusedUsage, removeRefusedUsage } from '../cluster/bus/nats/jetstream/refused-usage.ts';
import type { SigningKeys } from '../cluster/bus/signed.ts';
import { lineCostMicroUsd, usdOf } from '../config/prices/price.ts';
import { readUsage, usageKeys } from '../money/ledger/usage-stream.ts';
import { action, WrongInput } from './shared/actions.ts';
import { withBus } from './shared/bus.ts';
import { CommandError, EXIT, print, printTable } from './shared/output.ts';
import { outwardJson } from './shared/values.ts';

export const refused = action({
  operands: [],
  options: { clear: { type: 'string' }, json: { type: 'boolean' } },
  run: (_, { clear, json = false }) => {
    const only = clear === undefined || clear === 'all' ? undefined : numberOf(clear);
    return withBus(async (bus, secrets) => {
      const all = await refusedUsage(bus, FIRST_SHARD);
      if (clear === undefined) {
        list(all, usageKeys(secrets), json);
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

function numberOf(text: string): number {
  if (/^\d{1,15}$/.test(text)) return Number(text);
  throw new WrongInput('--clear takes the number of a message, or all.');
}

function list(all: readonly RefusedUsage[], keys: SigningKeys, json: boolean): void {
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
