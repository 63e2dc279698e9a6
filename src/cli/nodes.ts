// `voxgate nodes`: which nodes share the NATS servers of this machine's settings, what they do and how much. How they are asked is
// src/cluster/membership/roll-call.ts.
import { natsLeases } from '../cluster/bus/nats/jetstream/leases.ts';
import { callRoll, type NodeAnswer } from '../cluster/membership/roll-call.ts';
import { withBus } from './shared/bus.ts';
import { type Command, readArguments } from './shared/command.ts';
import { EXIT, print, printTable, tell } from './shared/output.ts';

/** Clocks that differ by more are told of. */
const SKEW_MS_MAX = 2000;

const usage = `Usage: voxgate nodes [--json]

Lists the nodes that share the NATS servers of VOXGATE_NATS, with what each
reports: roles, sessions, connections to providers, whether it drains, and which
accounts it keeps. A node that was killed, or hangs, is listed as silent, with
the time since the other nodes last received a heartbeat from it, for up to an
hour. The command reads the same variables as the gateway: run it where one of
the nodes runs.

  --json  prints one line of JSON for each node`;

export const nodes: Command = {
  usage,
  async run(args) {
    const { values } = readArguments(nodes, args, { json: { type: 'boolean' } });
    const answers = await withBus((bus) => callRoll(bus, natsLeases(bus)));
    if (values.json === true) for (const answer of answers) print(JSON.stringify(outward(answer)));
    else if (answers.length === 0) print('No node is there.');
    else printTable([HEAD, ...answers.map(row)]);
    for (const { id, skewMs } of answers) {
      if (Math.abs(skewMs) <= SKEW_MS_MAX) continue;
      const where = skewMs > 0 ? 'ahead of' : 'behind';
      tell(
        `The clock of ${shown(id)} is ${(Math.abs(skewMs) / 1000).toFixed(1)} s ${where} this one's: keep both right with NTP.`,
      );
    }
    return EXIT.ok;
  },
};

const HEAD = ['ID', 'NODE', 'STATE', 'ROLES', 'SESSIONS', 'LEGS', 'ACCOUNTS', 'VERSION'] as const;

function row({ id, node, status, missing, accounts }: NodeAnswer): string[] {
  const shards = accounts.map(shown).join(',');
  if (status === undefined) {
    const silent = missing === undefined ? 'silent' : `silent ${durationOf(missing.heardMsAgo)}`;
    return [shown(id), shown(node), silent, missing?.roles.join(',') ?? '', '', '', shards, ''];
  }
  const start = [shown(id), shown(node), stateOf(status)];
  const { roles, sessions, sessionsMax, legs, version } = status;
  const most = sessionsMax === null ? '' : ` of ${sessionsMax}`;
  return [...start, roles.join(','), `${sessions}${most}`, `${legs}`, shards, version];
}

function stateOf(status: NodeAnswer['status']): 'serving' | 'draining' | 'silent' {
  if (status === undefined) return 'silent';
  return status.draining ? 'draining' : 'serving';
}

const durationOf = (ms: number): string =>
  ms < 120_000 ? `${Math.round(ms / 1000)} s` : `${Math.round(ms / 60_000)} min`;

function outward({ id, node, status, missing, accounts, skewMs }: NodeAnswer) {
  const state = stateOf(status);
  if (status === undefined) {
    const { roles, heardMsAgo } = missing ?? {};
    return { id, node, state, ...(missing !== undefined && { roles, heardMsAgo }), accounts };
  }
  const { roles, sessions, sessionsMax, legs, version } = status;
  return { id, node, state, roles, sessions, sessionsMax, legs, accounts, version, skewMs };
}

/** As it is where it can be shown as it is. */
function shown(text: string): string {
  return /^[\x21-\x7e]{1,64}$/.test(text) ? text : JSON.stringify(text.slice(0, 64));
}
