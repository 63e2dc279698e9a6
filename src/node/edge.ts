// The HTTP side of a node: its server, with the routes and live endpoints over everything behind them.
import cluster from 'node:cluster';
import type { Authenticator } from '../accounts/auth/authenticate.ts';
import type { KeyLimits } from '../accounts/auth/limits.ts';
import { providersOf } from '../accounts/people/pages/forms.ts';
import type { SetUp } from '../api/console/gateway.ts';
import type { Mode } from '../api/models.ts';
import type { AccountsClient } from '../cluster/accounts/client.ts';
import type { SharedObjects } from '../cluster/bus/shared-objects.ts';
import { jobsHere } from '../compat/jobs/routes.ts';
import { KnownAccuracies } from '../config/accuracy.ts';
import { FileDecodings } from '../files/decoding/decoding.ts';
import { LongFiles } from '../files/long/long-files.ts';
import { LengthMeter } from '../files/measuring/length-meter.ts';
import { AbandonedResponses } from '../files/money/abandoned-responses.ts';
import { AudioBuckets } from '../files/remote/audio-buckets.ts';
import { RemoteAudio } from '../files/remote/remote-audio.ts';
import { FileSpeechGates } from '../files/speech-gate.ts';
import type { ObservedFile } from '../files/transcribe.ts';
import { Idempotency } from '../http/idempotency.ts';
import { FORM_MEMORY_BYTES_MAX } from '../http/multipart/form-fields.ts';
import { SpoolBudget, SpoolFile } from '../http/multipart/spool-file.ts';
import { newRequestId } from '../http/router.ts';
import { type ConsoleJobsDependencies, consoleJobRoutes } from '../jobs/console-routes.ts';
import { OwnJobs } from '../jobs/own-jobs.ts';
import type { ChoiceDependencies } from '../live/failover/choice/measures.ts';
import { playgroundRoutes } from '../live/routes/playground.ts';
import { consoleSessionEvents, type SessionEventsDependencies, streamPlaces } from '../live/routes/session-events.ts';
import { operatorRoutes } from '../live/routes/watch.ts';
import { listLiveSessions, readHistories } from '../live/session/watch/node-queries.ts';
import { breakProvider } from '../live/session/watch/provider-break.ts';
import { HttpPools } from '../live/upstream/http/pools.ts';
import { Quota } from '../runtime/limits/quota.ts';
import { parseNetworks } from '../runtime/network-addresses.ts';
import { backgroundClock } from '../runtime/telemetry/clock.ts';
import {
  type Assembly,
  canMail,
  clientsProviders,
  isPrivate,
  servedProviders,
  serviceAccess,
  spoolDirectory,
} from './context.ts';
import { openJobs, openKeptSessions, takeOverJobs } from './jobs.ts';
import type { EdgeLive } from './live.ts';
import { isAlone } from './lost-work.ts';
import type { Money } from './money.ts';
import { observeFile } from './observing/observing.ts';
import type { People } from './people.ts';
import { appRoutes } from './routes/console/app.ts';
import { consoleModelRoutes } from './routes/console/overview.ts';
import type { Readiness } from './routes/health.ts';
import type { LinksDependencies, OperatorDependencies, RoutesDependencies } from './routes/index.ts';
import type { ModelsDependencies } from './routes/models.ts';
import { type Edge, type EdgeOptions, type NodeServerOptions, serveEdge, serveOperator } from './serve.ts';
import type { OpenedVault } from './vault.ts';
import type { NodeWebhooks } from './webhooks.ts';

/** How long a stopping node waits until clients have received their last events. */
const CLOSE_MS = 2_000;

/** What serves clients, behind the routes. */
export interface EdgeServices {
  authenticator: Authenticator;
  money: Money;
  vault: OpenedVault;
  live: EdgeLive;
  people: People;
  limits: KeyLimits;
  webhooks: NodeWebhooks;
  /** Absent on a node that keeps the accounts itself. */
  accounts: AccountsClient | undefined;
  /** Absent where no other node could have it. */
  jobAudio: SharedObjects | undefined;
}

type OwnState = Pick<Readiness, 'isReady'> & LinksDependencies;

/** `services`: absent on a node that serves no clients. */
export async function openEdge(assembly: Assembly, services: EdgeServices | undefined, node: OwnState): Promise<Edge> {
  const { clock, defer } = assembly;
  const settings = serverOptions(assembly);
  const operator = operatorOf(assembly, {
    isReady: node.isReady,
    mayBePaid: services && (async () => (await services.accounts?.isThere()) ?? true),
  });
  const edge = await (services === undefined
    ? serveOperator({ ...settings, routes: { ...operator, consoleUrl: node.consoleUrl }, clock })
    : serveEdge({ ...settings, ...handlersOf(assembly, services, operator) }));
  const { server } = edge;
  defer(async () => {
    server.stopListening();
    services?.live.sessions.close();
    // The close frames of the last sessions are still on their way.
    await edge.quiet(CLOSE_MS);
    await server.close();
  });
  return edge;
}

/**
 * What a replica of the accounts serves while another node owns them: health and metrics. Closed before the node opens its own server.
 *
 * @param isCurrent whether it could take over now
 */
export async function openStandby(
  before: Omit<Assembly, 'store'>,
  isCurrent: () => boolean,
): Promise<() => Promise<void>> {
  const readiness = { isReady: () => false, isCurrentStandby: isCurrent };
  const routes = { ...operatorOf(before, readiness), consoleUrl: () => undefined };
  const { server } = await serveOperator({ ...serverOptions(before), routes, clock: before.clock });
  before.logger.info({ port: server.port }, 'standby listens');
  return async () => {
    server.stopListening();
    await server.close();
  };
}

function serverOptions({
  config,
  logger,
  metrics,
}: Pick<Assembly, 'config' | 'logger' | 'metrics'>): NodeServerOptions {
  const { accounts, server, limits } = config;
  const { tlsCertFile: certFile, tlsKeyFile: keyFile } = server;
  return {
    adapter: server.door,
    address: {
      host: server.host,
      port: server.port,
      // One of several processes on one port.
      shared: cluster.isWorker,
      ...(certFile === undefined || keyFile === undefined ? {} : { tls: { certFile, keyFile } }),
      headerBytesMax: limits.headerBytesMax,
      headerTimeoutMs: limits.handshakeTimeoutMs,
    },
    trustedProxies: server.trustedProxies,
    isBehindTls: certFile !== undefined || accounts.publicUrl?.startsWith('https:') === true,
    wallNow: () => new Date(),
    onRefused: ({ code }) => metrics.refused(code),
    onReply: (route, status) => metrics.httpRequest(route, status),
    onFault: (error, requestId) => logger.error({ requestId, err: error }, 'request fault'),
    onFallback: (reason, isExpected) =>
      logger[isExpected ? 'info' : 'warn']({ reason }, 'node:http with ws serves instead of uWebSockets.js'),
  };
}

const operatorOf = (
  { config, metrics }: Pick<Assembly, 'config' | 'metrics'>,
  readiness: Readiness,
): OperatorDependencies => ({
  ...readiness,
  readMetrics: () => metrics.read(),
  metricsAccess: { token: config.server.metricsToken, isPrivate: isPrivate(config) },
});

/** What the operator has measured, where that is kept. */
function accuraciesOf({ config, logger }: Pick<Assembly, 'config' | 'logger'>): Pick<ChoiceDependencies, 'accuracyOf'> {
  const { accuracyFile } = config.session;
  if (accuracyFile === undefined) return {};
  const known = new KnownAccuracies(accuracyFile, backgroundClock, (error) =>
    logger.error({ err: error }, 'the changed accuracy file is not used'),
  );
  return { accuracyOf: known.of.bind(known) };
}

function handlersOf(
  assembly: Assembly,
  services: EdgeServices,
  operator: OperatorDependencies,
): Pick<EdgeOptions, 'live' | 'routes'> {
  const { config, bus, metrics } = assembly;
  const { authenticator, money, vault, live } = services;
  const { limits, session } = config;
  const served = servedProviders(assembly);
  const common = {
    providers: clientsProviders(assembly),
    engines: { ...live.engines },
    access: serviceAccess(assembly),
    // Files are sent by the node that was given them; live audio by whichever can.
    hasService: (provider: string, mode: Mode) =>
      mode === 'live' && live.placement !== undefined ? live.placement.hasService(provider) : served.has(provider),
    ownKeyOf: vault.vault.ownKeyOf,
    choice: {
      figuresOf: live.measures.figuresOf.bind(live.measures),
      isOpen: live.breakers.isOpen.bind(live.breakers),
      ...accuraciesOf(assembly),
    },
    lastResort: config.session.lastResort,
    analyzer: live.analyzer,
    authenticator,
    limits: services.limits,
    prices: money.prices,
    wallNow: () => new Date(),
  };
  const keptSessions = openKeptSessions(assembly);
  const files = filesOf(assembly, services);
  const routes = {
    ...{ ...common, ...operator, keptSessions, webhooks: services.webhooks.routes },
    ...{ ...files, ...recordsOf(assembly, services, operator, common, files) },
  };
  assembly.defer(routes.jobsElsewhere.serve(jobsHere(routes)));
  const ownJobs = new OwnJobs({
    ...routes,
    store: assembly.store,
    clock: backgroundClock,
    newRequestId: () => newRequestId(Date.now()),
  });
  void resumeJobs(assembly, ownJobs);
  takeOverJobs(assembly, ownJobs, routes.jobRecords, operator.isReady);
  return {
    live: {
      ...common,
      keptSessions,
      reservations: money.reservations,
      node: bus.node,
      bus,
      isNodeThere: (node) => live.nodes().some((each) => each.node === node),
      clock: backgroundClock,
      sessions: live.sessions,
      openSpool: live.openSpool,
      settings: {
        ...session,
        ...limits,
        queryCredentials: config.server.queryCredentials,
        webhookNetworks: config.server.webhookNetworks,
      },
      gatherTranscript: (organisationId, sessionId) => services.webhooks.transcripts.gather(organisationId, sessionId),
      onQueryCredential: () => metrics.queryCredential(),
      onSmallSocket: () => metrics.smallSocket(),
      onResumableEvicted: () => metrics.dropped('resumable_session'),
      onRelayDrop: () => metrics.dropped('relayed_message'),
      onCallDrop: (name) => metrics.dropped(name),
    },
    routes: { ...routes, ownJobs },
  };
}

/** Jobs of earlier starts. Without a bus, another process on the same database may be at work on its own. */
async function resumeJobs(assembly: Assembly, ownJobs: OwnJobs): Promise<void> {
  const alone = await isAlone(assembly).catch(() => false);
  if (assembly.config.cluster.nats === undefined && !alone) return;
  const jobs = await ownJobs.resume(alone);
  if (jobs > 0) assembly.logger.info({ jobs }, 'jobs of an earlier start continue');
}

/** What transcriptions of files need. */
function filesOf(assembly: Assembly, services: EdgeServices) {
  const { money, live, webhooks } = services;
  const { config, logger, clock, metrics, store, secret, defer } = assembly;
  const pools = new HttpPools();
  defer(() => pools.close());
  const spoolQuota = new Quota(config.session.spoolNodeBytesMax);
  metrics.watchQueue('upload_spool_bytes', () => spoolQuota.used);
  const formMemory = new Quota(FORM_MEMORY_BYTES_MAX);
  metrics.watchQueue('form_memory_bytes', () => formMemory.used);
  const idempotency = new Idempotency({
    store,
    secret,
    clock,
    onFault: (error) => logger.error({ err: error }, 'idempotency fault'),
    onUnkept: () => metrics.dropped('idempotent_answer'),
  });
  metrics.watchQueue('idempotent_requests', () => idempotency.waiting);
  const lengths = new LengthMeter({
    clock,
    onFault: (error) => logger.error({ err: error }, 'file not measured'),
    onOverflow: (name) => metrics.dropped(name),
  });
  defer(() => lengths.close());
  metrics.watchQueue('measured_files', () => lengths.waiting);
  const decodings = new FileDecodings({
    clock,
    onFault: (error) => logger.error({ err: error }, 'file not decoded'),
    onOverflow: (name) => metrics.dropped(name),
  });
  defer(() => decodings.close());
  metrics.watchQueue('decoded_files', () => decodings.size);
  const gateDecodings = new FileDecodings({ clock });
  defer(() => gateDecodings.close());
  const speechGates = new FileSpeechGates({
    engine: live.engines.local,
    clock,
    decodings: gateDecodings,
    onOutcome: (outcome) => metrics.speechGated(outcome),
    onOverflow: (name) => metrics.dropped(name),
  });
  metrics.watchQueue('gated_files', () => speechGates.size);
  const directory = spoolDirectory(config);
  const longFiles = new LongFiles({
    decodings,
    openFile: (organisationId) => SpoolFile.create(directory, new SpoolBudget(spoolQuota, organisationId)),
  });
  metrics.watchQueue('file_parts', () => longFiles.size);
  const remoteAudio = openRemoteAudio(assembly);
  return {
    ...openJobs(assembly, services, spoolQuota),
    callbackNetworks: webhooks.routes.networks,
    node: assembly.bus.node,
    observeFile: (file: ObservedFile) => observeFile(file, assembly),
    onRedacted: (kind: string) => metrics.redacted(kind),
    reservations: money.files,
    idempotency,
    lengths,
    decodings,
    speechGates,
    longFiles,
    untaken: new AbandonedResponses(clock, config.billing.untakenFilesFree),
    upstream: live.upstream,
    http: {
      pools,
      clock,
      onFault: (name: string, error: unknown) => logger.error({ action: name, err: error }, 'upstream fault'),
    },
    spoolQuota,
    formMemory,
    remoteAudio,
    breakers: live.breakers,
    measures: live.measures,
    settings: { ...config.batch, fileBytesMax: config.limits.fileBytesMax, spoolDirectory: spoolDirectory(config) },
  };
}

/** Fetches audio that clients send the address of. */
function openRemoteAudio({ config, clock, metrics }: Assembly): RemoteAudio {
  const { webhookNetworks } = config.server;
  const { urls, buckets, endpoint, region, accessKeyId = '', secretAccessKey = '' } = config.sources;
  const access = { endpoint, region, accessKeyId, secretAccessKey };
  const remoteAudio = new RemoteAudio({
    clock,
    isOn: urls === 'on',
    buckets: buckets === undefined ? undefined : new AudioBuckets(access, buckets),
    networks: webhookNetworks === undefined ? undefined : parseNetworks(webhookNetworks),
    bytesMax: config.limits.fileBytesMax,
  });
  metrics.watchQueue('fetched_files', () => remoteAudio.size);
  return remoteAudio;
}

/** What is asked about the node, its models and its money. */
function recordsOf(
  assembly: Assembly,
  { live, people, authenticator, limits }: EdgeServices,
  { isReady }: OperatorDependencies,
  models: Omit<ModelsDependencies, 'statusOf'>,
  { detachedJobs }: Pick<ConsoleJobsDependencies, 'detachedJobs'>,
) {
  const { config, store, bus } = assembly;
  const { publicUrl } = config.accounts;
  const tls = config.server.tlsCertFile !== undefined;
  const pages = appRoutes({ isReady, setUp: setUpOf(assembly), isPrivate: isPrivate(config), publicUrl, tls });
  const statusOf: ModelsDependencies['statusOf'] = (slug, organisationId) =>
    live.breakers.statusOf(slug, organisationId);
  const watching = {
    store,
    watchSession: (...args) => live.elsewhere.watch(...args),
    clock: backgroundClock,
    wallNow: () => new Date(),
    places: streamPlaces(),
  } satisfies SessionEventsDependencies;
  return {
    ...watching,
    consoleRoutes: [
      ...people.routes,
      ...consoleModelRoutes(people.consoleRoute, { ...models, statusOf }),
      ...consoleSessionEvents(people.consoleRoute, watching),
      ...consoleJobRoutes(people.consoleRoute, { store, detachedJobs }),
      ...operatorRoutes(people.consoleRoute, {
        store,
        countMachines: () => live.machines.count(),
        nodes: () => live.nodes(),
        listSessions: (nodes, wanted) => listLiveSessions(bus, nodes, wanted),
        readHistories: (nodes, window) => readHistories(bus, nodes, window),
        wallNow: () => new Date(),
      }),
      ...playgroundRoutes(people.consoleRoute, {
        store,
        authenticator,
        limits,
        breakProvider: (request) => breakProvider(bus, request),
        nowMs: () => Date.now(),
      }),
      ...pages,
    ],
    describeSession: (id, organisationId) => live.elsewhere.describe(id, organisationId),
    statusOf,
    jsonBodyBytesMax: config.limits.jsonBodyBytesMax,
    publicUrl,
    tls,
  } satisfies Partial<RoutesDependencies>;
}

/** What whoever runs this node is told of it. */
function setUpOf(assembly: Assembly): SetUp {
  const { config, roles } = assembly;
  const { server, accounts } = config;
  const keepsMails = roles.has('accounts') && accounts.smtpUrl === undefined;
  const isBehindTls = accounts.publicUrl?.startsWith('https:');
  const served = servedProviders(assembly);
  return {
    providers: providersOf(clientsProviders(assembly), (provider) => served.has(provider)),
    mail: !canMail(assembly) ? 'nowhere' : keepsMails ? 'outbox' : 'server',
    tls: server.tlsCertFile !== undefined ? 'here' : isBehindTls ? 'proxy' : 'nobody',
  };
}
