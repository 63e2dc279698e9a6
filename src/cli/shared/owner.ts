// The accounts as commands reach them: over NATS at the node that owns them, or in the database file of this machine.
import { existsSync } from 'node:fs';
import { dirname } from 'node:path';
import { type AccountsClient, createAccountsClient } from '../../cluster/accounts/client.ts';
import { type Bus, BusError } from '../../cluster/bus/bus.ts';
import { NOT_PERMITTED } from '../../cluster/bus/nats/pending-requests.ts';
import type { SigningSecrets } from '../../cluster/bus/signed.ts';
import { OPERATOR_REPLICA, operatorService } from '../../cluster/bus/subjects.ts';
import type { Config } from '../../config/schema.ts';
import { isInUse } from '../../node/store/in-use.ts';
import { createOperatorStore } from '../../node/store/operator-store.ts';
import type { Store } from '../../node/store/store.ts';
import type { Ask } from '../../store/operation.ts';
import { StoreError } from '../../store/store-error.ts';
import { openBus } from './bus.ts';
import { CommandError, EXIT } from './output.ts';

const STATUS_MS = 2_000;

/** How the owner is asked. */
export interface Owner {
  store: Store;
  ask: Ask;
}

/**
 * Does the work with the node that owns the accounts. `instead`: without NATS in the settings, or when no node that keeps the
 * accounts answers and the file may be used.
 *
 * @param mayBeOpen whether `instead` only reads, so that a gateway may have the file open
 */
export async function withOwner<Result>(
  { config, file, mayBeOpen, mayMake }: { config: Config; file: string; mayBeOpen: boolean; mayMake: boolean },
  work: (owner: Owner) => Promise<Result>,
  instead: () => Promise<Result>,
): Promise<Result> {
  if (config.cluster.nats === undefined) return instead();
  const why = await overBus(config, work);
  if ('result' in why) return why.result;
  const isThere = existsSync(file);
  if (isThere ? mayBeOpen || !isInUse(file) : mayMake) return instead();
  const noOwner = `no node that owns the accounts answers over NATS (${why.fault.replace(/\.$/, '')})`;
  if (!isThere) throw new CommandError(`${noOwner}, and there is no database in ${dirname(file)}.`, EXIT.temporary);
  throw new CommandError(
    `a gateway has ${file} open, and ${noOwner}. Start NATS again, or run the command without VOXGATE_NATS to write to the file as on a single node.`,
    EXIT.temporary,
  );
}

type Asked<Result> = { result: Result } | { fault: string };

async function overBus<Result>(config: Config, work: (owner: Owner) => Promise<Result>): Promise<Asked<Result>> {
  let opened: Awaited<ReturnType<typeof openBus>>;
  try {
    opened = await openBus(config);
  } catch (error) {
    return { fault: (error as Error).message };
  }
  const { bus, secrets } = opened;
  try {
    const client = operatorClient(bus, secrets);
    const fault = await faultOf(bus, client);
    if (fault !== undefined) return { fault };
    return { result: await work(ownerOf(client)) };
  } catch (error) {
    throw error instanceof StoreError && error.reason === 'unreachable'
      ? new CommandError(error.message, EXIT.temporary)
      : error;
  } finally {
    await bus.close();
  }
}

export const operatorClient = (bus: Bus, { secret, previousSecret }: SigningSecrets): AccountsClient =>
  createAccountsClient({ bus, secret, previousSecret, serviceOf: operatorService });

export function ownerOf({ ask }: AccountsClient): Owner {
  return { ask, store: createOperatorStore({ ask }) };
}

/** Why no node that keeps the accounts can be asked. Undefined when the owner answers, or when a standby may become the owner. */
async function faultOf(bus: Bus, client: AccountsClient): Promise<string | undefined> {
  try {
    const foreign = await client.greet();
    if (foreign !== undefined) throw new CommandError(foreign, EXIT.config);
    return undefined;
  } catch (error) {
    if (!(error instanceof BusError)) throw error;
    requirePermission(error);
    // An owner that was just killed, or hangs, is still among those that are asked.
    if (error.reason === 'timeout' || (await hasStandby(bus))) return undefined;
    return error.message;
  }
}

/** Whether a node that keeps the accounts answers, which may own them in a moment. */
async function hasStandby(bus: Bus): Promise<boolean> {
  const question = { type: OPERATOR_REPLICA, want: 'state' };
  return bus.request(OPERATOR_REPLICA, bus.address('operator'), question, STATUS_MS).then(
    () => true,
    () => false,
  );
}

/** @throws CommandError when the NATS user may not ask for that */
export function requirePermission(error: BusError): void {
  if (!error.message.includes(NOT_PERMITTED)) return;
  throw new CommandError(
    'The NATS user of this command may not operate the accounts: set VOXGATE_NATS_USER to `operator`, `accounts` or `node`, which deploy/nats/nats-server.conf has.',
    EXIT.config,
  );
}
