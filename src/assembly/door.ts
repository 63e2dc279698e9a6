// The door of a node: routes and the live endpoint over everything behind them.
import type { Authenticator } from '../auth/authenticate.ts';
import { createKeyLimits } from '../auth/limits.ts';
import { LengthMeter } from '../edge/audio-length.ts';
import type { Door } from '../edge/door.ts';
import { Idempotency } from '../edge/idempotency.ts';
import type { RoutesDependencies } from '../edge/routes/index.ts';
import { type EdgeOptions, serveEdge } from '../edge/serve.ts';
import { SpoolBudget } from '../edge/spool-file.ts';
import { backgroundClock } from '../telemetry/clock.ts';
import { HttpPools } from '../upstream/http-pools.ts';
import { type Assembly, isPrivate, knownProviders, serviceAccess, spoolDirectory } from './context.ts';
import type { Live } from './live.ts';
import type { Money } from './money.ts';
import type { People } from './people.ts';
import type { OpenedVault } from './vault.ts';

/** How long clients are given to take the last words of a node that stops. */
const CLOSE_MS = 2_000;

/** Everything behind the door. */
export interface Behind {
  authenticator: Authenticator;
  money: Money;
  vault: OpenedVault;
  live: Live;
  people: People;
  isReady(): boolean;
}

export async function openDoor(assembly: Assembly, behind: Behind): Promise<Door> {
  const { config, logger, metrics, bus, defer } = assembly;
  const { server, limits } = config;
  const { sessions } = behind.live;
  const { tlsCertFile: certFile, tlsKeyFile: keyFile } = server;
  const edge = await serveEdge({
    door: server.door,
    address: {
      host: server.host,
      port: server.port,
      ...(certFile === undefined || keyFile === undefined ? {} : { tls: { certFile, keyFile } }),
      headerBytesMax: limits.headerBytesMax,
      headerTimeoutMs: limits.handshakeTimeoutMs,
    },
    ...handlersOf(assembly, behind),
    trustedProxies: server.trustedProxies,
    onRefused: ({ code }) => metrics.refused(code),
    onReply: (route, status) => metrics.httpRequest(route, status),
    onFault: (error, requestId) => logger.error({ requestId, err: error }, 'request fault'),
    onFallback: (reason) => logger.warn({ reason }, 'node:http with ws serves instead of uWebSockets.js'),
  });
  const { door } = edge;
  defer(async () => {
    door.stopListening();
    sessions.close();
    // The close frames of the last sessions are still on their way.
    await edge.quiet(CLOSE_MS);
    await door.close();
  });
  logger.info({ port: door.port, door: door.name, node: bus.node }, 'listening');
  return door;
}

function handlersOf(assembly: Assembly, behind: Behind): Pick<EdgeOptions, 'live' | 'routes'> {
  const { config, clock, bus } = assembly;
  const { authenticator, money, vault, live } = behind;
  const { limits, session } = config;
  const keyLimits = createKeyLimits({
    requestsPerMinuteMax: limits.requestsPerMinutePerKeyMax,
    sessionsMax: limits.sessionsPerKeyMax,
    sessionsPerOrganisationMax: limits.sessionsPerOrganisationMax,
    tokensPerMinuteMax: limits.tokensPerMinutePerKeyMax,
    clock,
  });
  const common = {
    providers: knownProviders,
    engines: { ...live.engines },
    access: serviceAccess(config),
    ownKeyOf: vault.vault.ownKeyOf,
    authenticator,
    limits: keyLimits,
    prices: money.prices,
    wallNow: () => new Date(),
  };
  return {
    live: {
      ...common,
      desk: money.desk,
      node: bus.node,
      clock: backgroundClock,
      sessions: live.sessions,
      settings: { ...session, ...limits },
    },
    routes: { ...common, ...filesOf(assembly, behind), ...recordsOf(assembly, behind) },
  };
}

/** What transcriptions of files need. */
function filesOf({ config, logger, clock, metrics, store, secret, defer }: Assembly, { money, live }: Behind) {
  const pools = new HttpPools();
  defer(() => pools.close());
  const spoolBudget = new SpoolBudget(config.session.spoolNodeBytesMax);
  metrics.watchQueue('upload_spool_bytes', () => spoolBudget.bytes);
  const idempotency = new Idempotency({
    store,
    secret,
    clock,
    onFault: (error) => logger.error({ err: error }, 'idempotency fault'),
  });
  metrics.watchQueue('idempotent_requests', () => idempotency.waiting);
  const lengths = new LengthMeter(clock);
  metrics.watchQueue('measured_files', () => lengths.waiting);
  return {
    desk: money.files,
    priceOf: (slug: string) => money.prices.priceOf(slug, 'batch'),
    idempotency,
    lengths,
    upstream: live.upstream,
    http: {
      pools,
      clock,
      onFault: (name: string, error: unknown) => logger.error({ action: name, err: error }, 'upstream fault'),
    },
    spoolBudget,
    breakers: live.breakers,
    settings: { ...config.batch, fileBytesMax: config.limits.fileBytesMax, spoolDirectory: spoolDirectory(config) },
  };
}

/** What is asked about the node, its models and its money. */
function recordsOf({ config, metrics, store }: Assembly, { live, people, isReady }: Behind) {
  return {
    store,
    consoleRoutes: people.routes,
    describeSession: (id) => live.sessions.describe(id),
    statusOf: (slug) => live.breakers.statusOf(slug),
    jsonBodyBytesMax: config.limits.jsonBodyBytesMax,
    isReady,
    readMetrics: () => metrics.read(),
    metricsAccess: { token: config.server.metricsToken, isPrivate: isPrivate(config) },
  } satisfies Partial<RoutesDependencies>;
}
