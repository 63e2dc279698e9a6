// What all streams and buckets on JetStream have in common: access, timeouts and errors.
import {
  JetStreamApiCodes,
  JetStreamApiError,
  type JetStreamClient,
  type JetStreamManager,
  jetstream,
  jetstreamManager,
  type StreamConfig,
  type StreamInfo,
} from '@nats-io/jetstream';
import { errors } from '@nats-io/transport-node';
import { withTimeout } from '../../../../runtime/timeouts.ts';
import { type Bus, BusError } from '../../bus.ts';
import type { NatsLink } from '../connector.ts';

/** The part of the bus that is needed here. */
export interface LinkedBus extends Pick<Bus, 'node' | 'isConnected' | 'onConnection'> {
  readonly link: NatsLink;
}

/** Timeout for one answer of a server. */
export const ANSWER_MS = 2000;

const DISCONNECTED = [errors.ClosedConnectionError, errors.DrainingConnectionError, errors.ConnectionError];
const STREAM_IN_USE = 10058;
const SUBJECTS_OVERLAP = 10065;

export interface JetStream {
  client: JetStreamClient;
  manager: JetStreamManager;
}

/** Does not contact a server yet. */
export async function jetStreamOf({ link }: LinkedBus): Promise<JetStream> {
  const client = jetstream(link.connection, { timeout: ANSWER_MS });
  const manager = await jetstreamManager(link.connection, { timeout: ANSWER_MS, checkAPI: false });
  return { client, manager };
}

/** Runs `work` on the connection. Rejects with BusError `disconnected` at once while it is down, and when it goes down. */
export async function whileConnected<Result>(
  bus: LinkedBus,
  what: string,
  work: () => Promise<Result>,
): Promise<Result> {
  const away = () => new BusError('disconnected', `NATS is not connected: ${what} is not possible now.`);
  if (!bus.isConnected) throw away();
  let detach = () => {};
  const cut = new Promise<never>((_, reject) => {
    detach = bus.onConnection((isConnected) => {
      if (!isConnected) reject(away());
    });
  });
  const result = work();
  // The caller may have given up when it fails later.
  result.catch(() => {});
  try {
    return await Promise.race([result, cut]);
  } catch (error) {
    throw asBusError(error, what);
  } finally {
    detach();
  }
}

function asBusError(error: unknown, what: string): BusError {
  if (error instanceof BusError) return error;
  const cause = error instanceof Error ? (error.cause ?? error) : error;
  if (error instanceof errors.TimeoutError || cause instanceof errors.TimeoutError)
    return new BusError('timeout', `NATS did not answer in time: ${what}.`);
  // What is published to a stream that does not exist has no responders either.
  if ([error, cause].some((each) => each instanceof errors.RequestError && each.isNoResponders())) {
    return new BusError('unknown_actor', `NATS has nobody for it (is JetStream switched on?): ${what}.`);
  }
  if (DISCONNECTED.some((Disconnected) => error instanceof Disconnected)) {
    return new BusError('disconnected', `NATS is not connected: ${what}.`);
  }
  const reason = error instanceof Error ? error.message : String(error);
  return Object.assign(new BusError('handler_failed', `NATS refused it (${reason}): ${what}.`), { cause: error });
}

function apiCode(error: unknown): number | undefined {
  const cause = error instanceof BusError ? error.cause : error;
  return cause instanceof JetStreamApiError ? cause.code : undefined;
}

/** Another process has written under that name. */
export const isWrongSequence = (error: unknown): boolean =>
  apiCode(error) === JetStreamApiCodes.StreamWrongLastSequence;

const WRONG_LAST_SEQUENCE_UNKNOWN = 10164;

/** The stream does not end with the message that the writer expected. */
export const isWrongEnd = (error: unknown): boolean =>
  isWrongSequence(error) || apiCode(error) === WRONG_LAST_SEQUENCE_UNKNOWN;

/** Whether the stream does not exist: it was never created, or an operator removed it. */
export const isMissingStream = (error: unknown): boolean =>
  apiCode(error) === JetStreamApiCodes.StreamNotFound ||
  (error instanceof BusError && error.reason === 'unknown_actor');

/**
 * Creates the stream if it is missing, and raises its number of replicas, its size and that of its messages if more is requested.
 * Changes nothing else of an existing stream.
 */
export async function ensureStream(
  manager: JetStreamManager,
  config: Partial<StreamConfig> & Pick<StreamConfig, 'name' | 'num_replicas'>,
): Promise<StreamInfo> {
  const found = await find(manager, config.name);
  if (found === undefined) {
    try {
      return await manager.streams.add(config);
    } catch (error) {
      // Another node created it a moment earlier, with other settings, or is about to have done so.
      const isThere = [STREAM_IN_USE, SUBJECTS_OVERLAP].includes(apiCode(error) ?? 0);
      const made = isThere ? await find(manager, config.name) : undefined;
      if (made === undefined) throw error;
      return made;
    }
  }
  const { num_replicas, max_msg_size, max_bytes } = found.config;
  // Negative: any size.
  const larger = (size: number, wanted = 0) => (size < 0 ? size : Math.max(size, wanted));
  const more = {
    num_replicas: Math.max(num_replicas, config.num_replicas),
    max_msg_size: larger(max_msg_size, config.max_msg_size),
    max_bytes: larger(max_bytes, config.max_bytes),
  };
  const isSame = more.num_replicas === num_replicas && more.max_msg_size === max_msg_size;
  if (isSame && more.max_bytes === max_bytes) return found;
  return manager.streams.update(config.name, more);
}

async function find(manager: JetStreamManager, name: string): Promise<StreamInfo | undefined> {
  try {
    return await manager.streams.info(name);
  } catch (error) {
    if (apiCode(error) === JetStreamApiCodes.StreamNotFound) return undefined;
    throw error;
  }
}

/**
 * Whether a server answers now, by a round trip: after the other end has stopped, a connection may look fine for seconds. Never
 * rejects.
 */
export async function answersNow(bus: LinkedBus, withinMs = 1000): Promise<boolean> {
  if (!bus.isConnected) return false;
  const answer = bus.link.connection.flush().then(
    () => true,
    () => false,
  );
  return (await withTimeout(answer, withinMs)) ?? false;
}
