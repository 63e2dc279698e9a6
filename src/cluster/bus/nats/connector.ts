// Keeps one connection to the NATS servers with its subscriptions, and reconnects without end. Leases and the usage stream share it.

import { once } from 'node:events';
import { connect as connectSocket } from 'node:net';
import { connect, errors, type Msg, type NatsConnection, type Status } from '@nats-io/transport-node';
import { withTimeout } from '../../../runtime/timeouts.ts';
import { isOlderVersion } from '../../../runtime/version.ts';
import { BusError, type Detach } from '../bus.ts';
import type { SigningSecrets } from '../signed.ts';
import { CONNECT_MS, connectionOptions, hostOf, type NatsServers } from './options.ts';

/** The first version with JetStream and key-value buckets as they are used here. */
const VERSION_MIN = [2, 9] as const;
/** How long to wait for a drain; a server that takes longer is not there. */
const DRAIN_MS = 2_000;
/** A server's errors that do not pass without other settings. */
const REFUSALS = [errors.AuthorizationError, errors.UserAuthenticationExpiredError, errors.PermissionViolationError];

interface NatsConnectorOptions extends NatsServers {
  prefix: string;
  node: string;
  secrets: SigningSecrets;
  /** Reports to the operator: one sentence without content or credentials. */
  onFault?: ((sentence: string) => void) | undefined;
}

interface Subscribed {
  readonly subject: string;
  readonly queue: string | undefined;
  readonly take: (message: Msg) => void;
  detach?: (() => void) | undefined;
}

export class NatsConnector implements NatsLink {
  readonly prefix: string;
  readonly secrets: SigningSecrets;
  isConnected = false;
  /** Called with a subject that the server does not let this node publish to. */
  onForbidden: (subject: string) => void = () => {};
  readonly #options: NatsConnectorOptions;
  readonly #backoff = new ReconnectBackoff();
  readonly #sockets = new Sockets();
  readonly #listeners = new Set<(isConnected: boolean) => void>();
  readonly #subscribed = new Set<Subscribed>();
  readonly #stop = new AbortController();
  #connection: NatsConnection | undefined;
  #lastFailure = 'none answered';
  #isRefused = false;

  constructor(options: NatsConnectorOptions) {
    this.#options = options;
    this.prefix = options.prefix;
    this.secrets = options.secrets;
  }

  get connection(): NatsConnection {
    if (this.#connection === undefined) throw new BusError('disconnected', 'NATS was not connected yet.');
    return this.#connection;
  }

  get isClosed(): boolean {
    return this.#stop.signal.aborted;
  }

  /** Whether the last server that answered does not let this node in, or cannot do what a gateway needs. */
  get isRefused(): boolean {
    return this.#isRefused;
  }

  /** Why the last attempt to connect failed. */
  get lastFailure(): string {
    return this.#lastFailure;
  }

  onConnection(listener: (isConnected: boolean) => void): Detach {
    // Wrapped, because the same function may be registered twice.
    const own = (isConnected: boolean) => listener(isConnected);
    this.#listeners.add(own);
    return () => this.#listeners.delete(own);
  }

  /** Subscribes on this connection and every later one. `take` must not throw. */
  subscribe(subject: string, queue: string | undefined, take: (message: Msg) => void): Detach {
    const subscribed: Subscribed = { subject, queue, take };
    this.#subscribed.add(subscribed);
    this.#begin(subscribed);
    return () => {
      if (!this.#subscribed.delete(subscribed)) return;
      subscribed.detach?.();
    };
  }

  /** Resolves when connected or closed; tries without end. */
  async join(): Promise<void> {
    while (!this.isClosed) {
      const connection = await this.#connectOnce();
      if (connection !== undefined) return this.#joined(connection);
      await this.#backoff.wait(this.#stop.signal);
    }
  }

  /** Sends what is pending if a server is there, and closes. */
  async close(): Promise<void> {
    if (this.isClosed) return;
    this.#stop.abort();
    const { isConnected } = this;
    this.#changed(false);
    const connection = this.#connection;
    if (connection === undefined || connection.isClosed()) return;
    // Without a connection a drain would wait for one.
    const drained = isConnected ? connection.drain().catch(() => {}) : Promise.resolve();
    await withTimeout(drained, DRAIN_MS);
    await connection.close();
    this.#sockets.destroyAll(connection);
  }

  async #connectOnce(): Promise<NatsConnection | undefined> {
    const { servers, prefix, node } = this.#options;
    try {
      // Probe first: the library leaves a socket open for each attempt at a silent server.
      await probeServers(servers, CONNECT_MS, this.#stop.signal);
      const connection = await connect({
        ...connectionOptions(this.#options, prefix, node),
        reconnectDelayHandler: () => this.#backoff.libraryWaitMs(),
      });
      const unfit = unfitness(connection);
      if (unfit === undefined && !this.isClosed) return connection;
      this.#lastFailure = unfit ?? 'it was closed';
      this.#isRefused = unfit !== undefined;
      await connection.close();
    } catch (error) {
      this.#lastFailure = error instanceof Error ? error.message : String(error);
      this.#isRefused = REFUSALS.some((Refusal) => error instanceof Refusal);
    }
    return undefined;
  }

  #joined(connection: NatsConnection): void {
    this.#connection = connection;
    for (const subscribed of this.#subscribed) this.#begin(subscribed);
    void this.#follow(connection);
    // Resolves only after a fault in the library; otherwise the library reconnects on its own.
    void connection.closed().then(() => this.#gaveUp());
    this.#changed(true);
  }

  #begin(subscribed: Subscribed): void {
    const { subject, queue, take } = subscribed;
    const connection = this.#connection;
    if (connection === undefined || connection.isClosed() || this.isClosed) return;
    const callback = (error: Error | null, message: Msg) => {
      if (error === null) take(message);
      else this.#fault(`The NATS server does not let this node listen to ${subject}.`);
    };
    const subscription = connection.subscribe(subject, queue === undefined ? { callback } : { callback, queue });
    subscribed.detach = () => {
      // Handle what the server sent before it sees the unsubscription; a request that is dropped would run into its timeout.
      if (!connection.isClosed()) subscription.drain().catch(() => {});
    };
  }

  async #follow(connection: NatsConnection): Promise<void> {
    for await (const status of connection.status()) this.#heard(connection, status);
  }

  async #gaveUp(): Promise<void> {
    this.#changed(false);
    if (this.isClosed) return;
    this.#fault('The connection to NATS was given up; it is opened anew.');
    await this.join();
  }

  #heard(connection: NatsConnection, status: Status): void {
    const { type } = status;
    if (type === 'reconnect') this.#sockets.connected();
    if (type === 'reconnect' || type === 'disconnect') this.#changed(type === 'reconnect');
    else if (type === 'reconnecting') this.#sockets.attempt(connection);
    else if (type === 'staleConnection') this.#sockets.cut(connection);
    else if (type === 'error') this.#refused(status.error);
  }

  #refused(error: Error): void {
    if (!(error instanceof errors.PermissionViolationError)) {
      this.#fault(`The NATS server refused something: ${error.message}.`);
    } else if (error.operation === 'publish') {
      this.#fault(`The NATS server does not let this node publish to ${error.subject}.`);
      this.onForbidden(error.subject);
    }
  }

  #changed(isConnected: boolean): void {
    if (isConnected) this.#backoff.reset();
    if (this.isConnected === isConnected || (isConnected && this.isClosed)) return;
    this.isConnected = isConnected;
    for (const listener of [...this.#listeners]) {
      try {
        listener(isConnected);
      } catch (error) {
        this.#fault(`A listener to the connection failed: ${error instanceof Error ? error.message : String(error)}.`);
      }
    }
  }

  #fault(sentence: string): void {
    this.#options.onFault?.(sentence);
  }
}

function unfitness({ info }: NatsConnection): string | undefined {
  if (isOlderVersion(info?.version ?? '', VERSION_MIN))
    return `it is nats-server ${info?.version}, and ${VERSION_MIN.join('.')} or newer is needed`;
  return info?.headers === true ? undefined : 'its headers are switched off (no_header_support), and they are needed';
}

/** The NATS connection of the bus, shared with leases and the usage stream. */
export interface NatsLink {
  /**
   * Reconnects on its own without end. Do not keep it: the object changes if the library gives a connection up. Throws BusError
   * `disconnected` before the first connection.
   */
  readonly connection: NatsConnection;
  /** The prefix of every subject, stream and bucket of this gateway: lower-case letters, digits and hyphens. */
  readonly prefix: string;
  /** Seals what is stored on the servers. */
  readonly secrets: SigningSecrets;
}

const PORT = 4222;
/** The first thing that every NATS server sends, before TLS. */
const INFO = 'INFO ';

/**
 * Asks each server for its INFO line before the library connects, because the library keeps the sockets of servers that stay
 * silent. Resolves when the first server has answered; rejects with the last server's failure.
 */
async function probeServers(servers: readonly string[], withinMs: number, signal: AbortSignal): Promise<void> {
  const probes = new AbortController();
  const stop = () => probes.abort();
  signal.addEventListener('abort', stop);
  try {
    await Promise.any(servers.map((server) => probe(new URL(server), withinMs, probes.signal)));
  } catch (error) {
    throw error instanceof AggregateError ? error.errors.at(-1) : error;
  } finally {
    signal.removeEventListener('abort', stop);
    stop();
  }
}

function probe(url: URL, withinMs: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const failed = (why: string) => reject(new Error(`${url.host} ${why}`));
    if (signal.aborted) return failed('was not asked');
    const socket = connectSocket({ host: hostOf(url), port: Number(url.port || PORT), signal });
    socket.setTimeout(withinMs, () => socket.destroy(new Error('did not answer in time')));
    let said = '';
    socket.on('data', (bytes: Buffer) => {
      said += bytes.toString('latin1', 0, INFO.length);
      if (said.length < INFO.length) return;
      if (said.startsWith(INFO)) resolve();
      else failed('does not speak NATS');
      socket.destroy();
    });
    socket.on('error', (error: NodeJS.ErrnoException) => failed(reasonOf(error)));
    socket.on('close', () => failed('closed the connection'));
  });
}

function reasonOf({ code, message, errors }: NodeJS.ErrnoException & { errors?: readonly Error[] }): string {
  if (code === 'ECONNREFUSED') return 'refused the connection';
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') return 'has no address';
  return code === undefined
    ? message
    : `could not be reached (${code}${errors === undefined ? '' : ', all addresses'})`;
}

const WAIT_MIN_MS = 100;
const WAIT_MAX_MS = 2_000;

/** Backoff with jitter. Uses the monotonic clock, so that a jump of the wall clock neither stops nor hurries the tries. */
export class ReconnectBackoff {
  readonly #now: () => number;
  readonly #random: () => number;
  #tries = 0;
  #nextAt = Number.NEGATIVE_INFINITY;

  constructor(now = () => performance.now(), random = Math.random) {
    this.#now = now;
    this.#random = random;
  }

  /** Connected: start again with the shortest delay. */
  reset(): void {
    this.#tries = 0;
    this.#nextAt = Number.NEGATIVE_INFINITY;
  }

  /**
   * The library asks for this before each try, and lets a server rest for so long since its last try by the wall clock. It asks
   * again after the wait, so when a try is due by the monotonic clock the answer is a negative time: try now.
   */
  libraryWaitMs(): number {
    const now = this.#now();
    if (now < this.#nextAt) return this.#nextAt - now;
    this.#nextAt = now + this.#drawMs();
    return Number.NEGATIVE_INFINITY;
  }

  /** Waits after a failure; resolves early when aborted. */
  async wait(signal: AbortSignal): Promise<void> {
    if (signal.aborted) return;
    const done = new AbortController();
    const timer = setTimeout(() => done.abort(), this.#drawMs());
    await Promise.race([once(signal, 'abort', { signal: done.signal }), once(done.signal, 'abort')]).catch(() => {});
    clearTimeout(timer);
    done.abort();
  }

  #drawMs(): number {
    const most = Math.min(WAIT_MAX_MS, 2 * WAIT_MIN_MS * 2 ** this.#tries);
    this.#tries = Math.min(this.#tries + 1, 16);
    return WAIT_MIN_MS + this.#random() * (most - WAIT_MIN_MS);
  }
}

interface Transport {
  socket?: { destroy(): void };
  close(): Promise<void>;
}

const transportOf = (connection: NatsConnection): Transport | undefined =>
  (connection as unknown as { protocol?: { transport?: Transport } }).protocol?.transport;

/**
 * Closes sockets that the NATS library leaves open: to a server that accepts nothing any more (the library waits for its last
 * bytes without end), and of connection attempts that got no INFO line. It reaches into the library; test/cluster/bus/slow/nats-
 * faults.test.ts fails if a newer version works differently.
 */
class Sockets {
  #attempt: Transport | undefined;

  /** Gives the connection up at once, with what was not sent. */
  cut(connection: NatsConnection): void {
    // The library reconnects after that.
    transportOf(connection)
      ?.close()
      .catch(() => {});
  }

  /** A new attempt began, so an earlier one failed. */
  attempt(connection: NatsConnection): void {
    const next = transportOf(connection);
    if (next === this.#attempt) return;
    if (this.#attempt !== undefined) end(this.#attempt);
    this.#attempt = next;
  }

  /** The last attempt became the connection. */
  connected(): void {
    this.#attempt = undefined;
  }

  /** Closed: no more attempts. */
  destroyAll(connection: NatsConnection): void {
    for (const transport of [this.#attempt, transportOf(connection)]) if (transport !== undefined) end(transport);
  }
}

/** Destroys the socket, also when the library attaches it only later, at the connection. */
function end(transport: Transport): void {
  let socket = transport.socket;
  socket?.destroy();
  Object.defineProperty(transport, 'socket', {
    configurable: true,
    get: () => socket,
    set(late: Transport['socket']) {
      socket = late;
      late?.destroy();
    },
  });
}
