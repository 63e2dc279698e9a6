// A TCP proxy that spoils connections, in toxiproxy's vocabulary and each direction apart. It knows nothing of what it
// carries; which connection is spoilt how is decided by a callback as it begins.
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import type { Clock } from '../../machines/clock.ts';
import { systemClock } from '../../src/runtime/telemetry/clock.ts';

export type Direction = 'toServer' | 'toClient';

/** What is done to one direction. Bytes are counted over the whole connection, from its first. */
export interface Toxics {
  /** Everything comes so much later, in order. */
  latencyMs?: number;
  /** Bytes a second. */
  bandwidth?: number;
  /** Written in pieces of so many bytes. */
  slicerBytes?: number;
  /** Exactly so many bytes pass; then the connection is closed on both sides. */
  limitDataBytes?: number;
  /** So many bytes pass; then the connection is reset on both sides. Who has not read the last of them may see an end. */
  resetPeerBytes?: number;
  /** Exactly so many bytes pass; what follows is swallowed, the end as well, and the sockets stay. */
  blackholeBytes?: number;
  /** The end of this direction is passed on so much later. */
  slowCloseMs?: number;
}

export type Program = { readonly [Name in Direction]?: Toxics };

export interface FaultProxyOptions {
  /** Port on this machine that is proxied. */
  port: number;
  /** Called as a connection begins; without it nothing is spoilt. */
  program?: (connection: ProxyConnection) => Program | undefined;
  clock?: Clock;
}

const HOST = '127.0.0.1';
/** Delayed bytes of one direction; beyond it nothing more is read. */
const WAITING_BYTES_MAX = 1_048_576;

export class FaultProxy {
  readonly #options: FaultProxyOptions;
  readonly #clock: Clock;
  readonly #open = new Set<ProxyConnection>();
  #server: Server;
  #port = 0;
  #begun = 0;

  private constructor(options: FaultProxyOptions) {
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
    this.#server = this.#newServer();
  }

  static async start(options: FaultProxyOptions): Promise<FaultProxy> {
    const proxy = new FaultProxy(options);
    await proxy.#listen();
    return proxy;
  }

  /** Where clients connect: the same for the proxy's whole life. */
  get port(): number {
    return this.#port;
  }

  /** Connections open on either side. */
  get connections(): number {
    return this.#open.size;
  }

  /** Resets every connection and refuses new ones. */
  async down(): Promise<void> {
    const closed = new Promise((resolve) => this.#server.close(resolve));
    for (const connection of this.#open) connection.reset();
    await closed;
  }

  /** Listens again, after `down`. */
  async up(): Promise<void> {
    this.#server = this.#newServer();
    await this.#listen();
  }

  /** Drops every connection and stops. Resolves when nothing is open. */
  async close(): Promise<void> {
    const ends = [...this.#open].map(({ closed }) => closed);
    if (this.#server.listening) await this.down();
    await Promise.all(ends);
  }

  #newServer(): Server {
    return createServer({ allowHalfOpen: true, noDelay: true }, (client) => {
      const server = connect({ port: this.#options.port, host: HOST, allowHalfOpen: true, noDelay: true });
      this.#begun++;
      const connection = new ProxyConnection(this.#begun, client, server);
      this.#open.add(connection);
      void connection.closed.then(() => this.#open.delete(connection));
      connection.begin(this.#options.program?.(connection) ?? {}, this.#clock);
    });
  }

  async #listen(): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      this.#server.once('error', reject);
      this.#server.listen(this.#port, HOST, resolve);
    });
    this.#port = (this.#server.address() as AddressInfo).port;
  }
}

/** One proxied connection, with its counters. */
export class ProxyConnection {
  /** From 1, in the order they began. */
  readonly number: number;
  /** Bytes passed on so far. */
  readonly passed: Record<Direction, number> = { toServer: 0, toClient: 0 };
  /** Resolves when both sides are closed. */
  readonly closed: Promise<void>;
  readonly #client: Socket;
  readonly #server: Socket;

  constructor(number: number, client: Socket, server: Socket) {
    this.number = number;
    this.#client = client;
    this.#server = server;
    const gone = (socket: Socket) => new Promise<void>((resolve) => socket.once('close', () => resolve()));
    this.closed = Promise.all([gone(client), gone(server)]).then(() => {});
  }

  /** Used by the proxy. */
  begin(program: Program, clock: Clock): void {
    const { passed } = this;
    const channel = (name: Direction, source: Socket, target: Socket) =>
      new Channel({
        source,
        target,
        toxics: program[name] ?? {},
        clock,
        onPassed: (bytes) => {
          passed[name] += bytes;
        },
        cut: () => this.cut(name),
        reset: () => this.reset(),
      });
    const channels = [channel('toServer', this.#client, this.#server), channel('toClient', this.#server, this.#client)];
    for (const each of channels) each.begin();
  }

  /** Closes both sides; what was passed on in this direction arrives. */
  cut(direction: Direction): void {
    const [source, target] = direction === 'toServer' ? [this.#client, this.#server] : [this.#server, this.#client];
    target.end(() => target.destroy());
    destroy(source);
  }

  /** Resets both sides. */
  reset(): void {
    this.#client.resetAndDestroy();
    this.#server.resetAndDestroy();
  }
}

/** Also a socket that is still connecting: what was put into it before, a reset among it, comes first. */
function destroy(socket: Socket): void {
  if (socket.connecting) socket.once('connect', () => socket.destroy());
  else socket.destroy();
}

interface ChannelOptions {
  source: Socket;
  target: Socket;
  toxics: Toxics;
  clock: Clock;
  onPassed(bytes: number): void;
  cut(): void;
  reset(): void;
}

/** Something that leaves at its time: bytes, or the end. */
interface Parcel {
  dueMs: number;
  bytes: Buffer | undefined;
}

/** One direction: from its source to its target, through its toxics. */
class Channel {
  readonly #options: ChannelOptions;
  /** How many bytes pass, and what happens then. */
  readonly #passMax: number;
  readonly #atLimit: 'cut' | 'reset' | 'swallow';
  #taken = 0;
  #waiting: Parcel[] = [];
  #waitingBytes = 0;
  #isBusy = false;
  #freeAtMs = 0;
  #timer: unknown;

  constructor(options: ChannelOptions) {
    this.#options = options;
    const { limitDataBytes, resetPeerBytes, blackholeBytes } = options.toxics;
    const limits = (
      [
        ['cut', limitDataBytes],
        ['reset', resetPeerBytes],
        ['swallow', blackholeBytes],
      ] as const
    ).map(([action, bytes]) => ({ action, bytes: bytes ?? Number.POSITIVE_INFINITY }));
    const [first] = limits.sort((a, b) => a.bytes - b.bytes) as [(typeof limits)[number]];
    this.#passMax = first.bytes;
    this.#atLimit = first.action;
  }

  begin(): void {
    const { source, target, clock } = this.#options;
    source.on('data', (bytes: Buffer) => this.#take(bytes));
    source.on('end', () => this.#put(undefined, this.#options.toxics.slowCloseMs ?? 0));
    source.on('error', () => {
      if (!this.#isSwallowing) target.resetAndDestroy();
    });
    target.on('drain', () => source.resume());
    target.on('close', () => {
      clock.clearTimeout(this.#timer);
      this.#waiting = [];
      // Nobody takes any more of it; in a black hole nobody noticed.
      if (!this.#isSwallowing) destroy(source);
    });
    if (this.#passMax === 0) this.#reachLimit();
  }

  get #isSwallowing(): boolean {
    return this.#atLimit === 'swallow' && this.#taken >= this.#passMax;
  }

  #take(bytes: Buffer): void {
    const passing = bytes.subarray(0, Math.max(0, this.#passMax - this.#taken));
    this.#taken += passing.length;
    const step = this.#options.toxics.slicerBytes ?? passing.length;
    for (let at = 0; at < passing.length; at += step) this.#put(passing.subarray(at, at + step), 0);
  }

  #put(bytes: Buffer | undefined, extraMs: number): void {
    if (bytes === undefined && this.#isSwallowing) return;
    const { clock, toxics, source } = this.#options;
    const nowMs = clock.now();
    const size = bytes?.length ?? 0;
    if (toxics.bandwidth !== undefined) {
      this.#freeAtMs = Math.max(this.#freeAtMs, nowMs) + (size * 1_000) / toxics.bandwidth;
    }
    const dueMs = Math.max(nowMs, this.#freeAtMs) + (toxics.latencyMs ?? 0) + extraMs;
    this.#waiting.push({ dueMs, bytes });
    this.#waitingBytes += size;
    if (this.#waitingBytes > WAITING_BYTES_MAX) source.pause();
    this.#next();
  }

  /** Lets the next parcel go, at its time; one at a time, so that pieces stay pieces. */
  #next(): void {
    const [parcel] = this.#waiting;
    if (this.#isBusy || parcel === undefined) return;
    this.#isBusy = true;
    const { clock } = this.#options;
    const delayMs = parcel.dueMs - clock.now();
    if (delayMs <= 0) this.#deliver(parcel);
    else this.#timer = clock.setTimeout(() => this.#deliver(parcel), delayMs);
  }

  #deliver({ bytes }: Parcel): void {
    const { source, target, toxics, onPassed } = this.#options;
    this.#waiting.shift();
    if (bytes === undefined) {
      target.end();
      return;
    }
    this.#waitingBytes -= bytes.length;
    onPassed(bytes.length);
    const done = (): void => {
      this.#isBusy = false;
      if (this.#waitingBytes <= WAITING_BYTES_MAX && !target.writableNeedDrain) source.resume();
      if (this.#taken >= this.#passMax && this.#waiting.length === 0) this.#reachLimit();
      else this.#next();
    };
    // Whoever reads gets a turn of the event loop between two pieces.
    if (toxics.slicerBytes !== undefined) target.write(bytes, () => setImmediate(done));
    else {
      if (!target.write(bytes)) source.pause();
      done();
    }
  }

  #reachLimit(): void {
    const { cut, reset } = this.#options;
    if (this.#atLimit === 'cut') cut();
    // Two turns of the event loop, in which whoever reads in this process has what was passed on.
    else if (this.#atLimit === 'reset') setImmediate(() => setImmediate(reset));
  }
}
