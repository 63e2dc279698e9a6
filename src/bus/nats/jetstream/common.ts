// What leases and usage stream share on JetStream: where they run, how long an answer may take, and what a failure is called.
// What is kept there, they decide.
import { type JetStreamClient, type JetStreamManager, NatsError, type StreamConfig, type StreamInfo } from 'nats';
import { type Bus, BusError } from '../../bus.ts';
import { within } from '../../within.ts';
import type { NatsLink } from '../link.ts';

/** The bus as far as it is needed here: its connection, and whether that stands. */
export interface LinkedBus extends Pick<Bus, 'node' | 'isConnected' | 'onConnection'> {
  readonly link: NatsLink;
}

/** How long one answer of a server may take. */
export const ANSWER_MS = 2000;

/** "wrong last sequence": somebody else has written under that name. */
const WRONG_SEQUENCE = 10071;
const STREAM_NOT_FOUND = 10059;
const STREAM_IN_USE = 10058;

export interface JetStream {
  client: JetStreamClient;
  manager: JetStreamManager;
}

/** Asks no server yet. */
export async function jetStreamOf({ link }: LinkedBus): Promise<JetStream> {
  const client = link.connection.jetstream({ timeout: ANSWER_MS });
  const manager = await link.connection.jetstreamManager({ timeout: ANSWER_MS, checkAPI: false });
  return { client, manager };
}

/** Does what needs the connection: rejects with BusError `disconnected` at once while it is away, and when it goes away. */
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
  // Whoever asked may be gone when it fails later.
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
  const code = error instanceof NatsError ? error.code : '';
  const said = error instanceof NatsError ? error.api_error?.description : undefined;
  const why = said ?? (error instanceof Error ? error.message : String(error));
  if (code === 'TIMEOUT') return new BusError('timeout', `NATS did not answer in time: ${what}.`);
  // Refusals of JetStream itself carry the same code, and more words.
  if (code === '503' && error instanceof NatsError && error.api_error === undefined) {
    return new BusError('unknown_actor', `NATS has nobody for it (is JetStream switched on?): ${what}.`);
  }
  if (/^(CONNECTION|DISCONNECT)/.test(code)) return new BusError('disconnected', `NATS is not connected: ${what}.`);
  return Object.assign(new BusError('handler_failed', `NATS refused it (${why}): ${what}.`), { cause: error });
}

function apiCode(error: unknown): number | undefined {
  const cause = error instanceof BusError ? error.cause : error;
  return cause instanceof NatsError ? cause.api_error?.err_code : undefined;
}

export const isWrongSequence = (error: unknown): boolean => apiCode(error) === WRONG_SEQUENCE;

/** Whether what was asked for has no stream: it was never made, or somebody has removed it. */
export const isMissingStream = (error: unknown): boolean =>
  apiCode(error) === STREAM_NOT_FOUND || (error instanceof BusError && error.reason === 'unknown_actor');

/**
 * Makes the stream where it is missing, and lets it be kept more often where that is configured. Everything else of one that
 * is there stays as it is.
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
      // Another node was a moment sooner, with other settings.
      const made = apiCode(error) === STREAM_IN_USE ? await find(manager, config.name) : undefined;
      if (made === undefined) throw error;
      return made;
    }
  }
  if (found.config.num_replicas >= config.num_replicas) return found;
  return manager.streams.update(config.name, { num_replicas: config.num_replicas });
}

async function find(manager: JetStreamManager, name: string): Promise<StreamInfo | undefined> {
  try {
    return await manager.streams.info(name);
  } catch (error) {
    if (apiCode(error) === STREAM_NOT_FOUND) return undefined;
    throw error;
  }
}

/**
 * Whether a server answers right now. Told by a round trip: a connection may look whole for seconds after the other end has
 * stopped. Never rejects.
 */
export async function answersNow(bus: LinkedBus, withinMs = 1000): Promise<boolean> {
  if (!bus.isConnected) return false;
  const answer = bus.link.connection.flush().then(
    () => true,
    () => false,
  );
  return (await within(withinMs, answer)) ?? false;
}
