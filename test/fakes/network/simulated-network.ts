// A network in memory between the gateway's legs and simulated providers: every frame takes its time under the clock and
// keeps its place; each connection can be cut, lamed or refused from outside. Nothing is random: who schedules decides.
import type { Clock } from '../../../machines/clock.ts';
import type { ExchangeDependencies } from '../../../src/live/upstream/http/exchange.ts';
import type { OpenSocket } from '../../../src/live/upstream/wire/open-wire.ts';
import { messageOf } from '../../../src/live/upstream/wire/socket-wire.ts';
import type { Wire, WireListener } from '../../../src/live/upstream/wire/wire.ts';
import type { GrpcEndpoint, Outgoing, SocketEndpoint } from '../../../src/vendors/kit/provider.ts';
import type { SimulatedAnswer } from '../../../src/vendors/kit/simulation.ts';
import type { StagePeer } from '../../../src/vendors/simulation/saying.ts';
import type { SimulatorStage } from '../../../src/vendors/simulation/stage.ts';
import type { StageConnection } from '../../../src/vendors/simulation/stage-connection.ts';
import { type DialFault, simulatedPools } from './simulated-requests.ts';

export type { DialFault } from './simulated-requests.ts';

export type Direction = 'to-client' | 'to-provider';

export interface SimulatedNetworkOptions {
  /** Milliseconds one way, for each frame; a slower one holds up those behind it. 1 when absent. */
  latencyMs?: number | ((link: Link, direction: Direction) => number);
  /** Decides at each dial, and may keep the link for later. */
  onDial?: (link: Link) => DialFault | undefined;
  /** Decides the same at each request. */
  onRequest?: (url: URL) => DialFault | undefined;
}

/** Of the wire that this one stands in for. */
const MESSAGE_CHARACTERS_MAX = 1_048_576;
const SILENT_MS = 20_000;
const CLOSE_MS = 2_000;
const ABNORMAL = 1006;
const NO_CODE = 1005;

/** The network: providers by the host name of their URL, and the links dialled so far that are open. */
export class SimulatedNetwork {
  readonly links = new Set<Link>();
  readonly options: SimulatedNetworkOptions;
  readonly #stages = new Map<string, SimulatorStage>();
  #dials = 0;

  constructor(options: SimulatedNetworkOptions = {}) {
    this.options = options;
  }

  /** Puts a provider at a host name (`deepgram.test`, with the port if the URLs have one). */
  serve(host: string, stage: SimulatorStage): void {
    this.#stages.set(host, stage);
  }

  /** For `openSocket` of the upstream host. */
  readonly openSocket: OpenSocket = (endpoint, listener, clock) => {
    this.#dials++;
    const link = new Link(this, this.#dials, endpoint, listener, clock);
    this.links.add(link);
    link.dial(this.#stages.get(link.url.host), this.options.onDial?.(link) ?? 'none');
    return link;
  };

  /** For `http.pools` of the upstream host. */
  pools(clock: Clock): ExchangeDependencies['pools'] {
    const { latencyMs, onRequest } = this.options;
    return simulatedPools({
      stageOf: (host) => this.#stages.get(host),
      clock,
      latencyMs: typeof latencyMs === 'number' ? latencyMs : 1,
      ...(onRequest === undefined ? {} : { onRequest }),
    });
  }
}

/** Things on their way in one direction: each arrives after the latency, in order. */
class Pipe {
  readonly #clock: Clock;
  readonly #latencyMs: () => number;
  #underWay: { dueMs: number; arrive: () => void }[] = [];
  #timer: unknown;
  #lastDueMs = 0;
  /** What is sent vanishes. */
  isBlackhole = false;

  constructor(clock: Clock, latencyMs: () => number) {
    this.#clock = clock;
    this.#latencyMs = latencyMs;
  }

  send(arrive: () => void): void {
    if (this.isBlackhole) return;
    const nowMs = this.#clock.now();
    this.#lastDueMs = Math.max(this.#lastDueMs, nowMs + this.#latencyMs());
    this.#underWay.push({ dueMs: this.#lastDueMs, arrive });
    if (this.#timer === undefined) this.#arm(this.#lastDueMs - nowMs);
  }

  /** What is under way is lost. */
  clear(): void {
    this.#underWay = [];
    this.#clock.clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  #arm(delayMs: number): void {
    this.#timer = this.#clock.setTimeout(() => {
      this.#timer = undefined;
      const nowMs = this.#clock.now();
      const later = this.#underWay.findIndex(({ dueMs }) => dueMs > nowMs);
      const due = this.#underWay.splice(0, later === -1 ? this.#underWay.length : later);
      const [next] = this.#underWay;
      if (next !== undefined) this.#arm(next.dueMs - nowMs);
      for (const { arrive } of due) arrive();
    }, delayMs);
  }
}

/** One connection, dialled by a leg: its wire, and the handle by which it is hurt. */
export class Link implements Wire {
  readonly number: number;
  readonly url: URL;
  /** Where it stands: 'closed' once neither end will hear anything more. */
  state: 'dialling' | 'open' | 'closed' = 'dialling';
  readonly #network: SimulatedNetwork;
  readonly #endpoint: SocketEndpoint | GrpcEndpoint;
  readonly #listener: WireListener;
  readonly #clock: Clock;
  readonly #toClient: Pipe;
  readonly #toProvider: Pipe;
  readonly #timers = new Set<unknown>();
  #connection: StageConnection | undefined;
  #clientOver = false;
  #providerOver = false;
  #clientClosing = false;
  #providerClosing = false;
  #isFrozen = false;
  #unreadBytes = 0;
  #heardMs = 0;

  constructor(
    network: SimulatedNetwork,
    number: number,
    endpoint: SocketEndpoint | GrpcEndpoint,
    listener: WireListener,
    clock: Clock,
  ) {
    this.#network = network;
    this.number = number;
    this.url = new URL(endpoint.url);
    this.#endpoint = endpoint;
    this.#listener = listener;
    this.#clock = clock;
    const latency = network.options.latencyMs ?? 1;
    const pipe = (direction: Direction) =>
      new Pipe(clock, typeof latency === 'number' ? () => latency : () => latency(this, direction));
    this.#toClient = pipe('to-client');
    this.#toProvider = pipe('to-provider');
  }

  /** Used by the network. */
  dial(stage: SimulatorStage | undefined, fault: DialFault): void {
    this.#toProvider.send(() => {
      if (fault === 'hang') return;
      if (stage === undefined || fault === 'refuse') {
        this.#providerOver = true;
        // The client may have gone meanwhile.
        this.#endBoth();
        this.#toClient.send(() => this.#loseNow());
      } else this.#upgrade(stage);
    });
  }

  // The wire, as a leg holds it.

  /** What a provider that stopped reading has not taken. */
  get bufferedBytes(): number {
    return this.#unreadBytes;
  }

  send(frame: Outgoing): void {
    if (this.#clientOver || this.#clientClosing || this.state !== 'open') return;
    const isBytes = frame instanceof Uint8Array;
    // A copy: the caller's buffer is its own again. Providers read text.
    const sent = isBytes ? frame.slice() : typeof frame === 'string' ? frame : JSON.stringify(frame);
    if (this.#isFrozen) this.#unreadBytes += sent.length;
    else this.#toProvider.send(() => this.#hearFromClient(sent));
  }

  /** Faults come from the tests. */
  breakDown(): void {}

  /** A provider that reads answers a ping. */
  ping(): void {
    if (this.#clientOver || this.#clientClosing || this.state !== 'open') return;
    this.#toProvider.send(() => {
      if (this.#providerOver || this.#isFrozen) return;
      this.#toClient.send(() => {
        if (!this.#clientOver) this.#listener.alive();
      });
    });
  }

  close(): void {
    if (this.#clientOver || this.#clientClosing) return;
    if (this.state !== 'open') {
      this.cut('to-client');
      return;
    }
    this.#clientClosing = true;
    this.#toProvider.send(() => this.#closedByClient());
    this.#after(CLOSE_MS, () => this.cut('to-client'));
  }

  terminate(): void {
    if (this.#clientOver) return;
    this.#endClient(() => {});
    this.#loseProvider();
  }

  // What is done to it from outside.

  /**
   * Cuts it now. Whoever reads in that direction is told 1006 at once and what was under way to it is lost; the other end
   * learns it one latency later.
   */
  cut(direction: Direction | 'both' = 'both'): void {
    if (direction !== 'to-provider') this.#loseNow();
    if (direction !== 'to-client') this.#endProvider(ABNORMAL);
    if (direction === 'to-client') this.#loseProvider();
    if (direction === 'to-provider') this.#loseClient();
  }

  /**
   * From now on frames vanish in that direction, what is under way with them, and both ends believe in the connection.
   * The client gives it up as its pings are not answered: after twenty seconds without a message.
   */
  blackhole(direction: Direction | 'both' = 'both'): void {
    const pipes = [
      ...(direction === 'to-provider' ? [] : [this.#toClient]),
      ...(direction === 'to-client' ? [] : [this.#toProvider]),
    ];
    for (const pipe of pipes) {
      pipe.isBlackhole = true;
      pipe.clear();
    }
    this.#heardMs = this.#clock.now();
    // The news that the client has gone may have been among what vanished.
    if (this.#clientOver) this.#loseProvider();
    if (this.state === 'open') this.#watch(SILENT_MS);
  }

  #watch(delayMs: number): void {
    this.#after(delayMs, () => {
      const leftMs = this.#heardMs + SILENT_MS - this.#clock.now();
      if (leftMs > 0) this.#watch(leftMs);
      else this.cut('to-client');
    });
  }

  #upgrade(stage: SimulatorStage): void {
    if (this.#clientOver || this.#providerOver) return;
    const { headers, protocols = [] }: Pick<SocketEndpoint, 'headers' | 'protocols'> = this.#endpoint;
    const lower = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]);
    if (protocols.length > 0) lower.push(['sec-websocket-protocol', protocols.join(', ')]);
    const upgrade = stage.upgrade({
      method: 'GET',
      url: this.url,
      headers: Object.fromEntries(lower),
      body: new Uint8Array(0),
    });
    if (upgrade.type === 'hang') return;
    if (upgrade.type === 'refuse') {
      this.#providerOver = true;
      this.#endBoth();
      this.#toClient.send(() => this.#endClient(() => this.#listener.refused(refusalOf(upgrade.answer))));
      return;
    }
    this.#toClient.send(() => {
      if (this.#clientOver) return;
      this.state = 'open';
      this.#listener.opened();
    });
    this.#connection = upgrade.connect(this.#peer());
  }

  #peer(): StagePeer {
    return {
      send: (frame) => {
        if (!this.#providerOver) this.#toClient.send(() => this.#hearFromProvider(frame));
      },
      close: (code = NO_CODE, reason = '') => {
        if (this.#providerOver || this.#providerClosing) return;
        this.#providerClosing = true;
        this.#toClient.send(() => this.#closedByProvider(code, reason));
      },
      drop: () => {
        if (this.#providerOver) return;
        this.#endProvider(ABNORMAL);
        this.#loseClient();
      },
      freeze: () => {
        this.#isFrozen = true;
      },
    };
  }

  #hearFromClient(sent: string | Uint8Array): void {
    if (this.#providerOver) return;
    if (this.#isFrozen) this.#unreadBytes += sent.length;
    else if (typeof sent === 'string') this.#connection?.text(sent);
    else this.#connection?.bytes(sent);
  }

  #hearFromProvider(frame: Outgoing): void {
    if (this.#clientOver || this.#clientClosing) return;
    this.#heardMs = this.#clock.now();
    if (frame instanceof Uint8Array) this.#listener.message({ bytes: frame });
    else if (typeof frame === 'string' && frame.length > MESSAGE_CHARACTERS_MAX) this.cut('to-client');
    else this.#listener.message(typeof frame === 'string' ? messageOf(frame) : { json: frame });
  }

  #closedByClient(): void {
    if (this.#providerOver || this.#isFrozen || this.#connection?.answersClose() === false) return;
    this.#endProvider(1000);
    this.#toClient.send(() => this.#endClient(() => this.#listener.closed(1000, '')));
  }

  #closedByProvider(code: number, reason: string): void {
    if (this.#clientOver) return;
    this.#loseProvider(code);
    this.#endClient(() => this.#listener.closed(code, reason));
  }

  /** The client's end is told that the connection is lost, or never came to be. */
  #loseNow(): void {
    this.#endClient(() => {
      if (this.state === 'dialling') this.#listener.unreachable('The provider could not be reached.');
      else this.#listener.closed(ABNORMAL, '');
    });
  }

  #loseClient(): void {
    this.#toClient.send(() => this.#loseNow());
  }

  /** The provider's end learns one latency later that the client's is gone; in a black hole, as it hears nothing more. */
  #loseProvider(code = ABNORMAL): void {
    if (this.#toProvider.isBlackhole) this.#clock.setTimeout(() => this.#endProvider(code), SILENT_MS);
    else this.#toProvider.send(() => this.#endProvider(code));
  }

  #endClient(tell: () => void): void {
    if (this.#clientOver) return;
    this.#clientOver = true;
    this.#unreadBytes = 0;
    this.#toClient.clear();
    for (const timer of this.#timers) this.#clock.clearTimeout(timer);
    tell();
    this.#endBoth();
  }

  #endProvider(code: number): void {
    if (this.#providerOver) return;
    this.#providerOver = true;
    this.#toProvider.clear();
    this.#connection?.gone(code);
    this.#endBoth();
  }

  #endBoth(): void {
    if (!this.#clientOver || !this.#providerOver) return;
    this.state = 'closed';
    this.#network.links.delete(this);
  }

  #after(delayMs: number, work: () => void): void {
    const timer = this.#clock.setTimeout(() => {
      this.#timers.delete(timer);
      work();
    }, delayMs);
    this.#timers.add(timer);
  }
}

function refusalOf({ status, headers = {}, body = '' }: SimulatedAnswer) {
  return { status, headers, body: typeof body === 'string' ? body : JSON.stringify(body) };
}
