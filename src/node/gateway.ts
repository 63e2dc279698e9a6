// One node from its start to its end: what is opened in which order, when it is ready, how it drains and stops. How each part is
// put together is in assembly/.
import { type Actor, fromPromise } from 'xstate';
import type { Clock } from '../../machines/clock.ts';
import { nodeMachine } from '../../machines/node.ts';
import { loadSecrets } from '../accounts/auth/secret.ts';
import type { ApiKey } from '../accounts/keys/calls.ts';
import { LINK_PATHS, linkTo } from '../accounts/people/mailer.ts';
import type { NodeLoad } from '../cluster/membership/heartbeat.ts';
import type { Membership } from '../cluster/membership/membership.ts';
import type { Config } from '../config/schema.ts';
import { rolesOf } from '../config/schema-cluster.ts';
import type { HttpServer } from '../http/server.ts';
import { DRAIN_TAIL_MS } from '../live/session/host.ts';
import { startObserved } from '../runtime/actors.ts';
import { systemClock } from '../runtime/telemetry/clock.ts';
import type { Logger } from '../runtime/telemetry/log.ts';
import { createMetrics, type Metrics } from '../runtime/telemetry/metrics.ts';
import { buildVersion } from '../runtime/version.ts';
import { providersWith } from '../vendors/index.ts';
import { type OwnAccounts, openOwnAccounts, serveOwnAccounts } from './accounts.ts';
import { openAuthenticator, openKeyLimits, openSharedLimits, publishAccountChanges } from './authentication.ts';
import { Backups } from './backup/backups.ts';
import { type Assembly, type BeforeStore, consoleUrl, lastingName, ownUrl } from './context.ts';
import { type EdgeServices, openEdge } from './edge.ts';
import { type Live, openEdgeLive, openLive } from './live.ts';
import { closeOwnLost } from './lost-work.ts';
import { auditHourly, noteCeilings, notePrices, openHistory, openMoney } from './money.ts';
import { openMembers, openNetwork, type SharedNetwork } from './network.ts';
import { openTraces } from './observing/session-trace.ts';
import { type Mails, openMails, openPeople } from './people.ts';
import { openRemoteAccounts, type RemoteAccounts, remoteReservationStore, remoteVault } from './remote-accounts.ts';
import type { Edge } from './serve.ts';
import { type OpenedVault, openRemoteVault, openVault } from './vault.ts';
import { openWebhooks } from './webhooks.ts';

/** A running node. */
export interface Gateway {
  /** Where it listens: `http://127.0.0.1:8080`. */
  url: string;
  port: number;
  door: HttpServer['name'];
  /** The first key, when this start made the data directory. Shown only here. */
  firstKey: { key: ApiKey; secret: string } | undefined;
  /**
   * Where the first owner of the first key's organisation is made: a new link in the place of the former one, which works once,
   * within 24 hours. Undefined where it has an owner, or another node keeps the accounts.
   */
  inviteFirstOwner(): Promise<string | undefined>;
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
  /** A node that drains waits for it too, within the same time: others still need it. */
  drainsAfter?: Promise<unknown>;
  /** The server listens: clients may be there from here on, although the start is not over. */
  onListening?(): void;
}

/** Starts a node. Rejects with one sentence when it cannot serve. */
export function startGateway(options: GatewayOptions): Promise<Gateway> {
  return new Node(options).start();
}

/** What a node has open, in the order it was opened. */
class Node {
  readonly #config: Config;
  readonly #logger: Logger;
  readonly #clock: Clock;
  readonly #drainsAfter: Promise<unknown> | undefined;
  readonly #onListening: () => void;
  readonly #metrics: Metrics;
  readonly #closers: (() => unknown)[] = [];
  #assembly!: Assembly;
  #behind: EdgeServices | undefined;
  #live: Live | undefined;
  #mails: Mails | undefined;
  #members: Membership | undefined;
  #edge!: Edge;
  #own: OwnAccounts | undefined;
  #firstKey: Gateway['firstKey'];
  #ready = false;
  #draining = false;
  #isStoppedAtOnce = false;
  #actor: Actor<typeof nodeMachine> | undefined;

  constructor({ config, logger, clock = systemClock, drainsAfter, onListening = () => {} }: GatewayOptions) {
    this.#drainsAfter = drainsAfter;
    this.#onListening = onListening;
    this.#config = config;
    const node = lastingName(config);
    this.#logger = logger.child({ node });
    this.#metrics = createMetrics(node);
    this.#clock = clock;
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
          start: attempt(() => this.#open()),
          listen: attempt(async () => {
            this.#edge = await openEdge(this.#assembly, this.#behind, {
              isReady: () => this.#ready,
              consoleUrl: () => this.#consoleUrl,
            });
            this.#onListening();
            this.#describe();
            this.#mails?.start();
            this.#firstKey = await this.#own?.makeFirstKey();
          }),
          stop: attempt(() => this.#close()),
        },
        actions: { beginDrain: () => this.#beginDrain() },
      });
      const ended = new Promise<string | null>((stopped) => {
        this.#actor = startObserved(machine, { drainMs: this.#config.session.drainMs + DRAIN_TAIL_MS }, this.#clock, {
          changed: (snapshot) => {
            this.#ready = snapshot.hasTag('ready');
            if (this.#ready) resolve(this.#facade(ended));
          },
          ended: ({ error }) => {
            stopped(error);
            if (error !== null) reject(failure ?? new Error(error));
          },
          failed: reject,
        });
      });
    });
  }

  #facade(ended: Promise<string | null>): Gateway {
    const { server } = this.#edge;
    const actor = this.#actor;
    const sessions = this.#behind?.live.sessions;
    const own = this.#own;
    return {
      url: this.#url,
      port: server.port,
      door: server.name,
      firstKey: this.#firstKey,
      inviteFirstOwner: async () => {
        const token = await own?.inviteFirstOwner();
        return token && linkTo(this.#consoleUrl ?? this.#url, LINK_PATHS.join, token);
      },
      metrics: this.#metrics,
      ended,
      get sessions() {
        return sessions?.size ?? 0;
      },
      drain: () => actor?.send({ type: 'node.drain' }),
      stop: () => {
        this.#isStoppedAtOnce = true;
        actor?.send({ type: 'node.stop' });
      },
    };
  }

  /** Where the node can be reached from this machine. */
  get #url(): string {
    return ownUrl(this.#config, this.#edge.server.port);
  }

  get #consoleUrl(): string | undefined {
    return consoleUrl(this.#assembly, this.#url, this.#members?.nodes());
  }

  /** The node's description of itself. */
  #describe(): void {
    const { port, name: door, build } = this.#edge.server;
    const { bus, roles } = this.#assembly;
    this.#logger.info({ port, door, build, incarnation: bus.node }, 'listening');
    const version = buildVersion();
    this.#metrics.built({ version, node_version: process.version, door, roles: [...roles].join(',') });
    this.#metrics.watchGauge('draining', 'Whether the node is draining: 1 or 0.', () => (this.#draining ? 1 : 0));
  }

  /** Everything behind the server. */
  async #open(): Promise<void> {
    const config = this.#config;
    const logger = this.#logger;
    const clock = this.#clock;
    const metrics = this.#metrics;
    const secrets = loadSecrets(config.data);
    const { secret } = secrets;
    const { bus, shared, close } = await openNetwork({ config, secrets, logger, metrics });
    this.#defer(close);
    const roles = new Set(rolesOf(config.cluster.roles));
    const defer = this.#defer.bind(this);
    const tracing = await openTraces({ config, logger, metrics, node: bus.node, defer });
    const nodeChart = () => this.#actor;
    const providers = providersWith(config.custom, config.localModels);
    const node = { config, logger, clock, metrics, tracing, bus, providers, nodeChart };
    const before: BeforeStore = { ...node, secret, roles, defer };
    const endFor = this.#endFor.bind(this);
    this.#members = shared && (await openMembers(before, shared, () => this.#load(), endFor));
    const backups = new Backups(before);
    // Closed once the accounts are: the last backup has everything, and another node may own them meanwhile.
    defer(() => backups.close({ isAtOnce: this.#isStoppedAtOnce }));
    const own = roles.has('accounts') ? await openOwnAccounts(before, shared, endFor) : undefined;
    const far = own === undefined ? await openRemoteAccounts(before, shared) : undefined;
    const assembly: Assembly = { ...before, store: (own ?? (far as RemoteAccounts)).store };
    this.#assembly = assembly;
    this.#own = own;
    const vault = far === undefined ? await openVault(assembly) : openRemoteVault(assembly, remoteVault(assembly, far));
    if (own !== undefined) {
      publishAccountChanges(assembly, own.store);
      auditHourly(assembly);
      backups.begin(own.ledger.id);
      own.onLost(() => backups.end());
      await notePrices(assembly);
      await noteCeilings(assembly);
      this.#mails = openMails(assembly, () => this.#consoleUrl ?? this.#url);
    }
    if (roles.has('edge')) this.#behind = await this.#openEdgeServices(assembly, vault, shared, far);
    else {
      this.#live = roles.has('upstream') ? openLive(assembly, vault, this.#members) : undefined;
      if (own !== undefined) openWebhooks(assembly, own);
    }
    if (own !== undefined && shared === undefined) await closeOwnLost(assembly, own.store);
    if (own === undefined || shared === undefined || this.#members === undefined) return;
    const reservations = this.#behind?.money.reservations;
    const noteSettled =
      reservations === undefined ? await openHistory(assembly) : reservations.noteSettled.bind(reservations);
    serveOwnAccounts(assembly, { own, vault: vault.vault, shared, members: this.#members, noteSettled });
  }

  /** What a node that serves clients has besides. */
  async #openEdgeServices(
    assembly: Assembly,
    vault: OpenedVault,
    shared: SharedNetwork | undefined,
    far: RemoteAccounts | undefined,
  ): Promise<EdgeServices> {
    const members = this.#members;
    const accounts = far?.client;
    const webhooks = openWebhooks(assembly, this.#own);
    const store = far && shared && remoteReservationStore(assembly, shared);
    const money = await openMoney(assembly, webhooks.events, store);
    const sharedLimits = openSharedLimits(assembly, members, accounts);
    const live = openEdgeLive(assembly, vault, members, sharedLimits?.places);
    this.#live = live;
    const authenticator = openAuthenticator(assembly, live.sessions, accounts);
    const people = openPeople(assembly, vault.vault, {
      describeSession: (id, organisationId) => live.elsewhere.describe(id, organisationId),
      outbox: this.#mails?.outbox,
      webhooks: webhooks.routes,
    });
    const limits = openKeyLimits(assembly, sharedLimits);
    return { accounts, authenticator, money, vault, live, people, limits, webhooks, jobAudio: shared?.jobAudio };
  }

  /** This node's load, for its heartbeat. */
  #load(): NodeLoad {
    return {
      sessions: this.#behind?.live.sessions.size ?? 0,
      legs: this.#live?.upstream.size ?? 0,
      sessionsMax: this.#behind === undefined ? null : this.#config.limits.sessionsPerNodeMax,
      url: this.#ready && this.#behind ? consoleUrl(this.#assembly, this.#url) : undefined,
      upstream: this.#live?.state(),
    };
  }

  /** The node cannot continue: it drains, so that another process can replace it. */
  #endFor(reason: string, error?: unknown): void {
    this.#logger.fatal({ reason, err: error }, 'the node ends');
    this.#actor?.send({ type: 'node.failed', error: reason });
  }

  #beginDrain(): void {
    this.#draining = true;
    const behind = this.#behind;
    const live = this.#live;
    const members = this.#members;
    this.#logger.info({ sessions: behind?.live.sessions.size ?? 0 }, 'draining');
    members?.drain();
    const clients = this.#edge.drain(behind?.live.sessions.drain());
    const under = [clients, behind?.money.files.idle(), live?.legs?.drain(), this.#drainsAfter];
    void Promise.all(under).then(() => this.#actor?.send({ type: 'sessions.gone' }));
  }

  async #close(): Promise<void> {
    for (const closer of this.#closers.splice(0).reverse()) await closer();
    this.#logger.info('stopped');
  }

  #defer(close: () => unknown): void {
    this.#closers.push(close);
  }
}
