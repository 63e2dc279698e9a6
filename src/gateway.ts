// One node from its start to its end: what is opened in which order, when it is ready, how it drains and stops. How each part is
// put together is in assembly/.
import { type Actor, fromPromise } from 'xstate';
import type { Clock } from '../machines/clock.ts';
import { nodeMachine } from '../machines/node.ts';
import { openAuthenticator } from './assembly/authentication.ts';
import type { Assembly } from './assembly/context.ts';
import { type Behind, openDoor } from './assembly/door.ts';
import { openLive } from './assembly/live.ts';
import { openMoney } from './assembly/money.ts';
import { openPeople } from './assembly/people.ts';
import { openVault } from './assembly/vault.ts';
import { loadSecret } from './auth/secret.ts';
import { MemoryBus } from './bus/memory.ts';
import type { Config } from './config/schema.ts';
import type { Door } from './edge/door.ts';
import { startObserved } from './runtime/observe.ts';
import type { SessionHost } from './session/host.ts';
import { openSqliteStore } from './store/sqlite.ts';
import type { ApiKey, Store } from './store/store.ts';
import { systemClock } from './telemetry/clock.ts';
import type { Logger } from './telemetry/log.ts';
import { createMetrics, type Metrics } from './telemetry/metrics.ts';

/** Beyond the sessions' own time to drain: for the tails of those that were stopped at its end. */
const DRAIN_TAIL_MS = 15_000;

/** A running node. */
export interface Gateway {
  /** Where it listens: `http://127.0.0.1:8080`. */
  url: string;
  port: number;
  door: Door['name'];
  /** The first key, when this start made the data directory. Shown only here. */
  firstKey: { key: ApiKey; secret: string } | undefined;
  metrics: Metrics;
  /** Live sessions now. */
  readonly sessions: number;
  /** Readiness off, no new sessions, live ones end at a turn boundary; then stops. */
  drain(): void;
  /** Stops at once. */
  stop(): void;
  /** Resolves when the node has stopped; with what went wrong, if anything did. */
  ended: Promise<string | null>;
}

export interface GatewayOptions {
  config: Config;
  logger: Logger;
  clock?: Clock;
}

/** Starts a node. Rejects with one sentence when it cannot serve. */
export function startGateway({ config, logger, clock = systemClock }: GatewayOptions): Promise<Gateway> {
  const node = new Node(config, logger, clock);
  return node.start();
}

/** What a node has open, in the order it was opened. */
class Node {
  private readonly config: Config;
  private readonly logger: Logger;
  private readonly clock: Clock;
  private readonly metrics = createMetrics();
  private readonly closers: (() => unknown)[] = [];
  private readonly bus: MemoryBus;
  private assembly!: Assembly;
  private behind!: Behind;
  private sessions: SessionHost | undefined;
  private door!: Door;
  private firstKey: Gateway['firstKey'];
  private ready = false;
  private actor: Actor<typeof nodeMachine> | undefined;

  constructor(config: Config, logger: Logger, clock: Clock) {
    this.config = config;
    this.logger = logger;
    this.clock = clock;
    this.bus = new MemoryBus({
      onDeadLetter: ({ reason, type }) => {
        this.metrics.deadLetter(reason);
        logger.debug({ reason, type }, 'dead letter');
      },
    });
  }

  start(): Promise<Gateway> {
    return new Promise((resolve, reject) => {
      let failure: unknown;
      const attempt = (work: () => Promise<void>) =>
        fromPromise<void, void>(() =>
          work().catch((error) => {
            failure ??= error;
            throw error;
          }),
        );
      const machine = nodeMachine.provide({
        actors: {
          start: attempt(() => this.open()),
          listen: attempt(async () => {
            this.door = await openDoor(this.assembly, this.behind);
            this.behind.people.startMails();
          }),
          stop: attempt(() => this.close()),
        },
        actions: { beginDrain: () => this.beginDrain() },
      });
      const ended = new Promise<string | null>((stopped) => {
        this.actor = startObserved(machine, { drainMs: this.config.session.drainMs + DRAIN_TAIL_MS }, this.clock, {
          changed: (snapshot) => {
            this.ready = snapshot.hasTag('ready');
            if (this.ready) resolve(this.facade(ended));
          },
          ended: ({ error }) => {
            stopped(error);
            if (error !== null) reject(failure);
          },
          failed: reject,
        });
      });
    });
  }

  private facade(ended: Promise<string | null>): Gateway {
    const { door, sessions, metrics, firstKey, actor } = this;
    return {
      url: this.url,
      port: door.port,
      door: door.name,
      firstKey,
      metrics,
      ended,
      get sessions() {
        return sessions?.size ?? 0;
      },
      drain: () => actor?.send({ type: 'node.drain' }),
      stop: () => actor?.send({ type: 'node.stop' }),
    };
  }

  /** Where the node can be reached from this machine. */
  private get url(): string {
    const { host, tlsCertFile } = this.config.server;
    return `${tlsCertFile === undefined ? 'http' : 'https'}://${hostInUrl(host)}:${this.door.port}`;
  }

  /** Everything behind the door. */
  private async open(): Promise<void> {
    const { config, logger, clock, metrics, bus } = this;
    this.defer(() => bus.close());
    const store = await this.openStore();
    const secret = loadSecret(config.data.secret, config.data.directory);
    const defer = (close: () => unknown) => this.defer(close);
    const assembly: Assembly = { config, logger, clock, metrics, bus, store, secret, defer };
    this.assembly = assembly;
    const money = await openMoney(assembly);
    const vault = await openVault(assembly);
    const authenticator = openAuthenticator(assembly, {
      revoke: (keyId) => this.sessions?.revoke(keyId),
      suspend: (organisationId) => this.sessions?.suspend(organisationId),
    });
    const people = openPeople(assembly, vault.vault, {
      ownUrl: () => this.url,
      describeSession: (id) => this.sessions?.describe(id),
    });
    const live = openLive(assembly, vault);
    this.sessions = live.sessions;
    this.behind = { authenticator, money, vault, live, people, isReady: () => this.ready };
  }

  private async openStore(): Promise<Store> {
    const { config, logger } = this;
    const store = await openSqliteStore({
      directory: config.data.directory,
      // Without its store a node can admit nobody: it finishes what it has and makes room for another.
      onFault: (error) => {
        logger.fatal({ err: error }, 'store fault');
        this.actor?.send({ type: 'node.drain' });
      },
    });
    this.defer(() => store.close());
    this.metrics.watchQueue('store_calls', () => store.waitingCalls);
    this.firstKey = await store.bootstrap();
    return store;
  }

  private beginDrain(): void {
    this.logger.info({ sessions: this.sessions?.size ?? 0 }, 'draining');
    const under = [this.sessions?.drain(), this.behind?.money.files.idle()];
    void Promise.all(under).then(() => this.actor?.send({ type: 'sessions.gone' }));
  }

  private async close(): Promise<void> {
    for (const closer of this.closers.splice(0).reverse()) await closer();
    this.logger.info('stopped');
  }

  private defer(close: () => unknown): void {
    this.closers.push(close);
  }
}

const hostInUrl = (host: string): string =>
  host.includes(':') ? `[${host}]` : host === '0.0.0.0' ? '127.0.0.1' : host;
