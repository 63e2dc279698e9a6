// Assembly of one node, in the order of the data's flow. The only file that knows every folder; it decides nothing that one
// of them could.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { type Actor, fromPromise } from 'xstate';
import type { Clock } from '../machines/clock.ts';
import { nodeMachine } from '../machines/node.ts';
import { FileSpools } from './audio/spool.ts';
import { type Authenticator, createAuthenticator } from './auth/authenticate.ts';
import { createKeyLimits } from './auth/limits.ts';
import { loadSecret } from './auth/secret.ts';
import { MemoryBus } from './bus/memory.ts';
import type { Config } from './config/schema.ts';
import type { Door } from './edge/door.ts';
import { serveEdge } from './edge/serve.ts';
import { SpoolBudget } from './edge/spool-file.ts';
import { providers as builtIn } from './providers/index.ts';
import { LoopbackEngine } from './providers/loopback/simulator.ts';
import { RecogniserPool } from './recogniser/pool.ts';
import { startObserved } from './runtime/observe.ts';
import { DialGate } from './session/admission.ts';
import { Breakers } from './session/breakers.ts';
import { SessionHost } from './session/host.ts';
import { serveLegs } from './session/leg-service.ts';
import type { SessionOpening, SessionSummary } from './session/session-opening.ts';
import { openSqliteStore } from './store/sqlite.ts';
import type { ApiKey, Store } from './store/store.ts';
import { backgroundClock, systemClock } from './telemetry/clock.ts';
import type { Logger } from './telemetry/log.ts';
import { createMetrics, type Metrics } from './telemetry/metrics.ts';
import { HttpPools } from './upstream/http-pools.ts';
import { UpstreamHost } from './upstream/live.ts';

/** Beyond the sessions' own time to drain: for the tails of those that were stopped at its end. */
const DRAIN_TAIL_MS = 15_000;

/** How long clients are given to take the last words of a node that stops. */
const CLOSE_MS = 2_000;

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
  private store!: Store;
  private authenticator!: Authenticator;
  private upstream!: UpstreamHost;
  private sessions!: SessionHost;
  private breakers!: Breakers;
  private engines!: { loopback: LoopbackEngine; local: RecogniserPool };
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
          listen: attempt(() => this.listen()),
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
    const { server } = this.config;
    const { door, sessions, metrics, firstKey, actor } = this;
    const scheme = server.tlsCertFile === undefined ? 'http' : 'https';
    return {
      url: `${scheme}://${hostInUrl(server.host)}:${door.port}`,
      port: door.port,
      door: door.name,
      firstKey,
      metrics,
      ended,
      get sessions() {
        return sessions.size;
      },
      drain: () => actor?.send({ type: 'node.drain' }),
      stop: () => actor?.send({ type: 'node.stop' }),
    };
  }

  /** Everything behind the door. */
  private async open(): Promise<void> {
    const { config, logger, clock, metrics, bus } = this;
    this.defer(() => bus.close());
    await this.openStore();
    this.authenticator = await createAuthenticator({
      store: this.store,
      secret: loadSecret(config.data.secret, config.data.directory),
      now: () => Date.now(),
    });
    this.defer(() => this.authenticator.close());

    const local = new RecogniserPool({
      ...config.recogniser,
      onFault: (error) => logger.error({ err: error }, 'recogniser fault'),
    });
    this.engines = { loopback: new LoopbackEngine(clock), local };
    this.defer(() => local.close());
    metrics.watchQueue('recogniser_bytes', () => local.queuedBytes);
    metrics.watchQueue('recogniser_streams', () => local.streams);

    this.upstream = new UpstreamHost({
      providers,
      engines: { ...this.engines },
      access: (name) => this.access(name),
      clock,
      onEvent: (event) => {
        if (event.type === 'leg.ended') metrics.legEnded(event.outcome);
        else if (event.type === 'unread') metrics.dropped('unread_provider_message');
        else logger.error({ err: event.error, action: event.name }, 'upstream fault');
      },
    });
    this.defer(() => this.upstream.close());
    this.defer(serveLegs(bus, this.upstream));
    this.openSessions();
  }

  private async openStore(): Promise<void> {
    const { config, logger } = this;
    const store = await openSqliteStore({
      directory: config.data.directory,
      // Without its store a node can admit nobody: it finishes what it has and makes room for another.
      onFault: (error) => {
        logger.fatal({ err: error }, 'store fault');
        this.actor?.send({ type: 'node.drain' });
      },
    });
    this.store = store;
    this.defer(() => store.close());
    this.metrics.watchQueue('store_calls', () => store.waitingCalls);
    this.firstKey = await store.bootstrap();
    this.defer(store.onKeyRevoked((keyId) => this.sessions?.revoke(keyId)));
  }

  private openSessions(): void {
    const { config, logger, clock, metrics, bus } = this;
    const directory = this.spoolDirectory;
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    const spools = new FileSpools({
      directory,
      bytesMax: config.session.spoolNodeBytesMax,
      onFault: (error) => logger.error({ err: error }, 'spool fault'),
    });
    metrics.watchQueue('spool_bytes', () => spools.bytes);
    const { breakerFailuresMax, breakerOpenMs, breakerOpenMsMax, dialsPerModelMax } = config.upstream;
    this.breakers = new Breakers({
      clock,
      failuresMax: breakerFailuresMax,
      openMs: breakerOpenMs,
      openMsMax: breakerOpenMsMax,
      onChange: (model, state) => logger.warn({ model, state }, 'breaker'),
      onFault: (error) => logger.error({ err: error }, 'breaker fault'),
    });
    this.defer(() => this.breakers.close());
    const dials = new DialGate(dialsPerModelMax);
    metrics.watchQueue('waiting_dials', () => dials.waiting);
    this.sessions = new SessionHost({
      bus,
      clock,
      wallNow: () => new Date(),
      settings: { ...config.session, ...config.limits },
      totals: metrics,
      sessionsMax: config.limits.sessionsPerNodeMax,
      openSpool: () => spools.open(),
      access: (name) => this.access(name),
      breakers: this.breakers,
      dials,
      onOpened: () => metrics.sessionOpened(),
      onEnded: (opening, summary) => this.sessionEnded(opening, summary),
      onFault: (sessionId, action, error) => logger.error({ sessionId, action, err: error }, 'session fault'),
    });
    metrics.watchSessions(() => ({ ...this.sessions.countByPhase() }));
    metrics.watchQueue('upstream_legs', () => this.upstream.size);
  }

  private async listen(): Promise<void> {
    const { config, logger, metrics } = this;
    const { server, limits, session } = config;
    const keyLimits = createKeyLimits({
      requestsPerMinuteMax: limits.requestsPerMinutePerKeyMax,
      sessionsMax: limits.sessionsPerKeyMax,
      clock: this.clock,
    });
    const chain = { providers, engines: { ...this.engines }, access: (name: string) => this.access(name) };
    const pools = new HttpPools();
    this.defer(() => pools.close());
    const uploads = new SpoolBudget(session.spoolNodeBytesMax);
    metrics.watchQueue('upload_spool_bytes', () => uploads.bytes);
    const { tlsCertFile: certFile, tlsKeyFile: keyFile } = server;
    const common = { authenticator: this.authenticator, limits: keyLimits };
    const edge = await serveEdge({
      door: server.door,
      address: {
        host: server.host,
        port: server.port,
        ...(certFile === undefined || keyFile === undefined ? {} : { tls: { certFile, keyFile } }),
        headerBytesMax: limits.headerBytesMax,
        headerTimeoutMs: limits.handshakeTimeoutMs,
      },
      live: {
        ...chain,
        ...common,
        node: this.bus.node,
        clock: backgroundClock,
        wallNow: () => new Date(),
        sessions: this.sessions,
        settings: { ...session, ...limits },
      },
      routes: {
        ...chain,
        ...common,
        upstream: this.upstream,
        http: {
          pools,
          clock: this.clock,
          onFault: (name, error) => logger.error({ action: name, err: error }, 'upstream fault'),
        },
        spoolBudget: uploads,
        breakers: this.breakers,
        statusOf: (slug) => this.breakers.statusOf(slug),
        settings: { ...config.batch, fileBytesMax: limits.fileBytesMax, spoolDirectory: this.spoolDirectory },
        jsonBodyBytesMax: limits.jsonBodyBytesMax,
        isReady: () => this.ready,
        readMetrics: () => metrics.read(),
      },
      onRefused: ({ code }) => metrics.refused(code),
      onReply: (route, status) => metrics.httpRequest(route, status),
      onFault: (error, requestId) => logger.error({ requestId, err: error }, 'request fault'),
      onFallback: (reason) => logger.warn({ reason }, 'node:http with ws serves instead of uWebSockets.js'),
    });
    const { door } = edge;
    this.door = door;
    this.defer(async () => {
      door.stopListening();
      this.sessions.close();
      // The close frames of the last sessions are still on their way.
      await edge.quiet(CLOSE_MS);
      await door.close();
    });
    logger.info({ port: door.port, door: door.name, node: this.bus.node }, 'listening');
  }

  private beginDrain(): void {
    this.logger.info({ sessions: this.sessions.size }, 'draining');
    void this.sessions.drain().then(() => this.actor?.send({ type: 'sessions.gone' }));
  }

  private async close(): Promise<void> {
    for (const closer of this.closers.splice(0).reverse()) await closer();
    this.logger.info('stopped');
  }

  private sessionEnded(opening: SessionOpening, summary: SessionSummary): void {
    this.metrics.sessionEnded(summary.reason);
    for (let count = 0; count < summary.failovers; count++) this.metrics.failedOver();
    const { sessionId, requestId, organisationId, keyId, request } = opening;
    this.logger.info(
      { sessionId, requestId, organisationId, keyId, model: request.model, ...summary },
      'session ended',
    );
  }

  private get spoolDirectory(): string {
    return join(this.config.data.directory, 'spool');
  }

  private access(provider: string) {
    const settings = this.config.providers[provider];
    return { baseUrl: settings?.url, credential: settings?.apiKey };
  }

  private defer(close: () => unknown): void {
    this.closers.push(close);
  }
}

const providers = new Map(builtIn.map((provider) => [provider.name, provider]));

const hostInUrl = (host: string): string =>
  host.includes(':') ? `[${host}]` : host === '0.0.0.0' ? '127.0.0.1' : host;
