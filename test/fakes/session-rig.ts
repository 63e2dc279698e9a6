// A node's live side without sockets: real charts, session host, bus, upstream host and scripted provider under a simulated
// clock, and clients that keep what they hear.
import { join } from 'node:path';
import { SimulatedClock } from 'xstate';
import type { Clock } from '../../machines/clock.ts';
import type { WatchedFrame } from '../../src/api/console/watching.ts';
import type { ListenRequest } from '../../src/api/listen.ts';
import type { ServerEvent } from '../../src/api/listen-events.ts';
import { BLOCK_BYTES } from '../../src/audio/tape/blocks.ts';
import { FileSpools } from '../../src/audio/tape/spool.ts';
import type { Bus } from '../../src/cluster/bus/bus.ts';
import { MemoryBus } from '../../src/cluster/bus/memory.ts';
import type { Placement } from '../../src/cluster/placement.ts';
import { createPriceList, type PriceOverrides } from '../../src/config/prices/price-list.ts';
import { DialGate } from '../../src/live/failover/admission.ts';
import { Breakers, type BreakersOptions } from '../../src/live/failover/breakers/breakers.ts';
import { type Ask, type ChainDependencies, resolveChain } from '../../src/live/failover/chain.ts';
import type { StreamSlots } from '../../src/live/failover/stream-slots.ts';
import { openSession } from '../../src/live/session/channel-group.ts';
import { SessionHost } from '../../src/live/session/host.ts';
import type { ClientLine } from '../../src/live/session/outbox.ts';
import type { LiveSession } from '../../src/live/session/session.ts';
import type {
  SessionDependencies,
  SessionOpening,
  SessionSettings,
  SessionSummary,
} from '../../src/live/session/session-opening.ts';
import type { ExchangeDependencies } from '../../src/live/upstream/http/exchange.ts';
import { HttpPools } from '../../src/live/upstream/http/pools.ts';
import type { UpstreamDependencies } from '../../src/live/upstream/leg-connection.ts';
import { LegService } from '../../src/live/upstream/service/leg-service.ts';
import { UpstreamHost } from '../../src/live/upstream/upstream-host.ts';
import type { OpenSocket } from '../../src/live/upstream/wire/open-wire.ts';
import { pricedMembers } from '../../src/money/ledger/meter-contract.ts';
import { chainWithin } from '../../src/money/ledger/price-bounds.ts';
import { Reservations } from '../../src/money/ledger/reservations.ts';
import { Quota } from '../../src/runtime/limits/quota.ts';
import type { Engine, Provider } from '../../src/vendors/kit/provider.ts';
import { loopback } from '../../src/vendors/loopback/index.ts';
import { LoopbackEngine } from '../../src/vendors/loopback/simulator.ts';
import { MemoryLedger } from './store/memory-ledger.ts';
import { temporaryDirectory } from './temporary-directory.ts';

export const SETTINGS: SessionSettings = {
  idleMs: 30_000,
  suspendMs: 36_000_000,
  longestMs: 4 * 3_600_000,
  memoryBytesMax: 2 * 1_048_576,
  replayMs: 60_000,
  replaySpoolMs: 1_800_000,
  spoolNodeBytesMax: 1_073_741_824,
  unreadBytesMax: 65_536,
  unreadEventsMax: 256,
  latency: 'balanced',
  drainMs: 60_000,
  upstreamRetries: 1,
  // Attempts are counted, where a test is not about the time that they have.
  retryMs: 0,
  backOffMs: 100,
  settleMs: 5_000,
  returnToPrimary: 'off',
  returnMs: 60_000,
  hearEmptyAgain: 'off',
  closeMs: 20_000,
  binaryFrameBytesMax: 1_048_576,
  textFrameBytesMax: 65_536,
};

const REQUEST: ListenRequest = {
  model: 'loopback/script',
  fallbacks: [],
  sampleRate: 16_000,
  encoding: 'linear16',
  language: undefined,
  interimResults: true,
  diarization: false,
  providerParams: {},
  strict: false,
};

/** A client's end: keeps the events, and may be told not to read. */
export class RigClient implements ClientLine {
  readonly events: ServerEvent[] = [];
  closeCode: number | undefined;
  /** While true, what is sent piles up in the socket. */
  stuck = false;
  bufferedBytes = 0;
  session!: LiveSession;
  summary: SessionSummary | undefined;
  /** How often its place was given back. */
  released = 0;
  private readonly whenEnded: Promise<void>;
  private tellEnded!: () => void;

  constructor() {
    this.whenEnded = new Promise((resolve) => {
      this.tellEnded = resolve;
    });
  }

  send(text: string): 'sent' | 'queued' | 'gone' {
    if (this.closeCode !== undefined) return 'gone';
    if (this.stuck) this.bufferedBytes += Buffer.byteLength(text);
    this.events.push(JSON.parse(text) as ServerEvent);
    return this.stuck ? 'queued' : 'sent';
  }

  close(code: number): void {
    this.closeCode ??= code;
  }

  ended(): Promise<void> {
    return this.whenEnded;
  }

  finish(summary: SessionSummary): void {
    this.summary = summary;
    this.tellEnded();
  }

  of<Type extends ServerEvent['type']>(type: Type): Extract<ServerEvent, { type: Type }>[] {
    return this.events.filter((event): event is Extract<ServerEvent, { type: Type }> => event.type === type);
  }

  get finals() {
    return this.of('transcript').filter((event) => event.is_final);
  }
}

export interface RigOptions {
  /** Receives what is kept of each session that has ended. */
  onEnded?: (frames: readonly WatchedFrame[]) => void;
  settings?: Partial<SessionSettings>;
  slots?: Pick<StreamSlots, 'take'>;
  providers?: Provider[];
  engines?: (clock: Clock) => Record<string, Engine>;
  access?: (provider: string) => { baseUrl: string | undefined; credential: string | undefined };
  /** The organisation's own keys, and how a connection gets the credential it is dialled with; absent: `access`. */
  ownKeyOf?: NonNullable<ChainDependencies['ownKeyOf']>;
  dialAccess?: UpstreamDependencies['access'];
  clock?: Clock;
  /** The simulated clock itself; absent: one of its own. */
  simulatedClock?: SimulatedClock;
  /** The bus of a node whose legs are opened by others; absent: one that is alone, and opens its own. */
  bus?: Bus;
  /** Where legs are opened; absent: wherever somebody answers. */
  placement?: Placement;
  breakers?: Partial<Pick<BreakersOptions, 'failuresMax' | 'openMs' | 'onOwnKey'>>;
  dialsMax?: number;
  openSocket?: OpenSocket;
  /** How requests to providers are sent; absent: for real. */
  httpPools?: ExchangeDependencies['pools'];
  /** Absent: one of its own. */
  spoolDirectory?: string;
  /** Prices beside those of the catalogue. */
  prices?: PriceOverrides;
  /** Absent: one without a limit. */
  ledger?: MemoryLedger;
  graceMs?: number;
  /** The engine that finds voices; absent: there is none. */
  voices?: Engine;
  /** Who is told of the moments of its sessions. */
  observe?: SessionDependencies['observe'];
  /** Finds names and addresses. */
  analyzer?: SessionDependencies['analyzer'];
  /** How busy the process is, from 0 to 1. */
  busyShare?: number;
  /** Rules at later legs. */
  ruleNow?: SessionOpening['ruleNow'];
}

export class SessionRig {
  readonly #ruleNow: SessionOpening['ruleNow'];
  readonly clock: SimulatedClock;
  readonly bus: MemoryBus;
  readonly upstreamDependencies: UpstreamDependencies;
  /** Of models that hear files only: connections that nobody uses do not keep the process. */
  readonly pools = new HttpPools();
  readonly drops: Record<string, number> = {};
  readonly refusals: Record<string, number> = {};
  readonly voiceChecks: string[] = [];
  readonly primaryReturns: string[] = [];
  readonly standbys: string[] = [];
  readonly faults: { sessionId: string; name: string; error: unknown }[] = [];
  readonly engine: LoopbackEngine;
  readonly upstream: UpstreamHost;
  readonly sessions: SessionHost;
  readonly breakers: Breakers;
  readonly dials: DialGate;
  readonly ledger: MemoryLedger;
  readonly reservations: Reservations;
  readonly chain;
  private readonly clients = new Map<string, RigClient>();
  private opened = 0;

  constructor(options: RigOptions = {}) {
    this.#ruleNow = options.ruleNow;
    this.clock = options.simulatedClock ?? new SimulatedClock();
    this.bus = (options.bus as MemoryBus | undefined) ?? new MemoryBus();
    const clock = options.clock ?? this.clock;
    this.engine = new LoopbackEngine(clock);
    const access = options.access ?? (() => ({ baseUrl: undefined, credential: undefined }));
    const providers = new Map((options.providers ?? [loopback]).map((provider) => [provider.name, provider]));
    const engines = { loopback: this.engine as Engine, ...options.engines?.(clock) };
    const { ownKeyOf, dialAccess = access } = options;
    const prices = createPriceList(providers.values(), options.prices);
    this.chain = { providers, engines, access, prices, ...(ownKeyOf === undefined ? {} : { ownKeyOf }) };
    this.upstreamDependencies = {
      providers,
      engines,
      access: dialAccess,
      clock,
      http: {
        pools: options.httpPools ?? this.pools,
        clock,
        onFault: (name, error) => this.faults.push({ sessionId: '', name, error }),
      },
      ...(options.openSocket === undefined ? {} : { openSocket: options.openSocket }),
      onEvent: (event) => {
        if (event.type === 'fault') this.faults.push({ sessionId: '', name: event.name, error: event.error });
      },
    };
    this.upstream = new UpstreamHost(this.upstreamDependencies);
    if (options.bus === undefined) new LegService(this.bus, this.upstream);
    this.ledger = options.ledger ?? new MemoryLedger(null);
    this.reservations = new Reservations({
      store: this.ledger,
      clock,
      wallNow: () => new Date(0),
      node: this.bus.node,
      settings: {
        directory: join(options.spoolDirectory ?? temporaryDirectory(), 'usage'),
        // Written to no disk within the time that a simulation covers.
        journalSyncMs: 2_000_000_000,
        graceMs: options.graceMs ?? 600_000,
        historyDays: 0,
      },
      onFault: (name, error) => this.faults.push({ sessionId: '', name, error }),
    });
    const spools = new FileSpools({
      directory: options.spoolDirectory ?? temporaryDirectory(),
      quota: new Quota(Math.floor((options.settings?.spoolNodeBytesMax ?? SETTINGS.spoolNodeBytesMax) / BLOCK_BYTES)),
      onFault: () => {},
    });
    this.breakers = new Breakers({
      clock,
      failuresMax: 5,
      openMs: 10_000,
      openMsMax: 300_000,
      ...options.breakers,
      onFault: (error) => this.faults.push({ sessionId: '', name: 'breaker', error }),
    });
    this.dials = new DialGate(options.dialsMax ?? 50);
    this.sessions = new SessionHost({
      breakers: this.breakers,
      dials: this.dials,
      ...(options.slots === undefined ? {} : { slots: options.slots }),
      placement: options.placement,
      bus: this.bus,
      clock,
      wallNow: () => new Date(0),
      settings: { ...SETTINGS, ...options.settings },
      totals: {
        audioReceived: () => {},
        audioSent: () => {},
        dropped: (name) => {
          this.drops[name] = (this.drops[name] ?? 0) + 1;
        },
        redacted: () => {},
        refused: (code) => {
          this.refusals[code] = (this.refusals[code] ?? 0) + 1;
        },
        primaryReturn: (outcome) => this.primaryReturns.push(outcome),
        standby: (outcome) => this.standbys.push(outcome),
        voiceChecked: (purpose, outcome) => this.voiceChecks.push(`${purpose}: ${outcome}`),
      },
      sessionsMax: 100_000,
      openSpool: (organisationId) => spools.open(organisationId),
      gathering: { low: { share: 0 }, balanced: { share: options.busyShare ?? 0 }, throughput: { share: 1 } },
      access,
      ...(options.observe === undefined ? {} : { observe: options.observe }),
      ...(options.voices === undefined ? {} : { voices: options.voices }),
      analyzer: options.analyzer,
      onOpened: () => {},
      onEnded: (opening, summary, frames) => {
        options.onEnded?.(frames);
        this.clients.get(opening.sessionId)?.finish(summary);
      },
      onFault: (sessionId, name, error) => this.faults.push({ sessionId, name, error }),
    });
  }

  /** Opens a session as the edge would. */
  async open(
    request: Partial<ListenRequest> = {},
    organisationId = 'org_1',
    { showsTranscripts = false, lastResort }: Partial<Pick<SessionOpening, 'showsTranscripts'> & Ask> = {},
    lineOf: (client: RigClient) => ClientLine = (client) => client,
  ): Promise<RigClient> {
    const listen = { ...REQUEST, ...request };
    const ask = { ...listen, mode: 'live' as const, organisationId, lastResort };
    const { members, warnings } = await resolveChain(ask, this.chain);
    const client = new RigClient();
    const openingOf = async (): Promise<SessionOpening> => {
      this.opened++;
      const sessionId = `ses_${this.bus.node}${this.opened}`;
      this.clients.set(sessionId, client);
      const head = { id: sessionId, organisationId, keyId: 'key_1', mode: 'live' as const };
      const meter = await this.reservations.open(
        { ...head, model: listen.model, openedAt: new Date(0).toISOString() },
        pricedMembers(members),
        false,
        listen.limits?.maxMicroUsd,
      );
      return {
        sessionId,
        requestId: `req_${this.opened}`,
        organisationId,
        keyId: 'key_1',
        showsTranscripts,
        request: listen,
        chain: meter.bounds === undefined ? members : chainWithin(members, pricedMembers(members), meter.bounds).chain,
        warnings,
        ...(this.#ruleNow === undefined ? {} : { ruleNow: this.#ruleNow }),
        meter,
        release: () => {
          client.released++;
        },
      };
    };
    const opening = await openingOf();
    const { channels = 1 } = listen;
    if (channels > 1) opening.others = await Promise.all(Array.from({ length: channels - 1 }, openingOf));
    // Of several channels it has what a socket needs, and no more.
    client.session = openSession(this.sessions, opening, lineOf(client), () => new Date(0)) as LiveSession;
    await settle();
    return client;
  }

  /** Moves the clock in steps, and lets everything that follows from each step happen. */
  async advance(totalMs: number, stepMs = 100): Promise<void> {
    for (let at = 0; at < totalMs; at += stepMs) {
      this.clock.increment(Math.min(stepMs, totalMs - at));
      await settle();
    }
  }
}

/** Lets every promise and microtask that is under way run to its end. */
export async function settle(): Promise<void> {
  await new Promise<void>((resolve) => setImmediate(resolve));
}
