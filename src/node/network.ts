// How a node reaches the others: the bus, and on NATS the leases and the usage stream. A node without NATS runs alone on the
// in-process bus.
import { type Bus, type DeadLetterListener, isExpectedDeadLetter } from '../cluster/bus/bus.ts';
import { MemoryBus } from '../cluster/bus/memory.ts';
import {
  NatsAwayError,
  type NatsBus,
  type NatsBusOptions,
  natsOptionsOf,
  openNatsBus,
} from '../cluster/bus/nats/bus.ts';
import { answersNow } from '../cluster/bus/nats/jetstream/common.ts';
import { type NatsLeases, natsLeases } from '../cluster/bus/nats/jetstream/leases.ts';
import { natsRecords, type Records } from '../cluster/bus/nats/jetstream/records.ts';
import { natsObjects } from '../cluster/bus/nats/jetstream/shared-objects.ts';
import { type NatsUsage, natsUsage } from '../cluster/bus/nats/jetstream/usage-stream.ts';
import type { SharedObjects } from '../cluster/bus/shared-objects.ts';
import type { SigningSecrets } from '../cluster/bus/signed.ts';
import type { NodeLoad } from '../cluster/membership/heartbeat.ts';
import { joinCluster, type Membership } from '../cluster/membership/membership.ts';
import { ClusterError } from '../cluster/membership/name-lease.ts';
import type { Config } from '../config/schema.ts';
import { JOB_LIMITS } from '../jobs/calls.ts';
import type { Logger } from '../runtime/telemetry/log.ts';
import type { Metrics } from '../runtime/telemetry/metrics.ts';
import { buildVersion } from '../runtime/version.ts';
import { type Assembly, nodeId } from './context.ts';

/** After this a job is over, whatever became of it. */
const JOB_AUDIO_MS = JOB_LIMITS.unfinishedMs + 3_600_000;

/** What nodes have in common on NATS. */
export interface SharedNetwork {
  leases: NatsLeases;
  records: Records;
  usage: NatsUsage;
  /** Audio of jobs that are not over. Undefined where the operator allows none. */
  jobAudio: SharedObjects | undefined;
}

export interface Network {
  bus: Bus;
  /** Undefined on a single node. */
  shared: SharedNetwork | undefined;
  close(): Promise<void>;
}

interface NetworkOptions {
  config: Config;
  secrets: SigningSecrets;
  logger: Logger;
  metrics: Metrics;
}

/** @throws ClusterError when NATS is not there in time, or lets this node not in */
export async function openNetwork({ config, secrets, logger, metrics }: NetworkOptions): Promise<Network> {
  const onDeadLetter: DeadLetterListener = (letter) => {
    const { reason, type } = letter;
    if (isExpectedDeadLetter(letter)) metrics.dropped('late_letter');
    else metrics.deadLetter(reason);
    logger.debug({ reason, type }, 'dead letter');
  };
  const options = natsOptionsOf(config.cluster);
  if (options === undefined) {
    const bus = new MemoryBus({ onDeadLetter });
    return { bus, shared: undefined, close: () => bus.close() };
  }
  const onFault = (sentence: string) => logger.error({ reason: sentence }, 'bus fault');
  const onRefused = (reason: string) => metrics.messageRefused(reason);
  const bus = await openBus({ ...options, secrets, onDeadLetter, onFault, onRefused });
  const stopTelling = bus.onConnection((isConnected) => {
    if (isConnected) logger.info('the bus is back');
    else logger.warn('the bus is away');
  });
  const { natsReplicas: replicas, jobAudioBytesMax: bytesMax } = config.cluster;
  const usage = natsUsage(bus, { replicas, onFault });
  metrics.watchQueue('bus_outbox_bytes', () => bus.inFlightBytes);
  metrics.watchGauge('bus_connected', 'Whether the message bus is connected: 1 or 0.', () => (bus.isConnected ? 1 : 0));
  metrics.watchGauge(
    'usage_refused',
    'Usage put aside because the ledger could not take it, since the start.',
    () => usage.refused,
  );
  metrics.watchGauge(
    'bus_ignored',
    'Messages on the bus that no node of this gateway can have sent, since the start.',
    () => bus.ignored.malformed + bus.ignored.misdirected,
  );
  metrics.watchGauge(
    'bus_late',
    'Answers that arrived after their caller stopped waiting, since the start.',
    () => bus.ignored.late,
  );
  const jobAudio = bytesMax === 0 ? undefined : natsObjects(bus, { replicas, bytesMax, keptMs: JOB_AUDIO_MS });
  return {
    bus,
    shared: { leases: natsLeases(bus, { replicas }), records: natsRecords(bus, { replicas }), usage, jobAudio },
    close: () => {
      stopTelling();
      return bus.close();
    },
  };
}

async function openBus(options: NatsBusOptions): Promise<NatsBus> {
  try {
    return await openNatsBus(options);
  } catch (error) {
    throw new ClusterError(error instanceof Error ? error.message : String(error), {
      isPassing: error instanceof NatsAwayError,
    });
  }
}

// This node among the others: its name, what it has to do, and who else is there.
/** `end`: another node has this one's name. */
export async function openMembers(
  assembly: Omit<Assembly, 'store'>,
  { leases }: SharedNetwork,
  load: () => NodeLoad,
  end: (sentence: string) => void,
): Promise<Membership> {
  const { bus, clock, logger, metrics, roles, defer } = assembly;
  const members = await joinCluster({
    bus,
    leases,
    clock,
    self: { id: nodeId(assembly), roles: [...roles], version: buildVersion() },
    load,
    answersNow: () => answersNow(bus as NatsBus),
    onWarning: (sentence) => logger.warn({ reason: sentence }, 'cluster'),
    onConflict: end,
  });
  defer(() => members.leave());
  metrics.watchGauge('nodes', 'Known nodes, including this one.', () => members.nodes().length);
  metrics.watchGauge(
    'clock_skew_seconds',
    'Median difference between the clocks of other nodes and this one; positive if they are ahead.',
    () => members.skewMs() / 1000,
  );
  metrics.watchGauge('accounts_nodes', 'Known nodes that keep the accounts, or can.', () => members.count('accounts'));
  return members;
}
