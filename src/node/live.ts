// The live side of a node: engines, connections to providers, breakers and sessions, joined by the bus.
import { mkdirSync } from 'node:fs';
import type { WatchedFrame } from '../api/console/watching.ts';
import { BLOCK_BYTES } from '../audio/tape/blocks.ts';
import { FileSpools, type Spool } from '../audio/tape/spool.ts';
import type { ClusterLimits } from '../cluster/limits/limits.ts';
import type { UpstreamState } from '../cluster/membership/heartbeat.ts';
import type { Membership } from '../cluster/membership/membership.ts';
import { type Placement, upstreamPlacement } from '../cluster/placement.ts';
import { Analyzer } from '../live/analyzer/analyzer.ts';
import { DialGate } from '../live/failover/admission.ts';
import { shareBreakers } from '../live/failover/breakers/breaker-hints.ts';
import { Breakers } from '../live/failover/breakers/breakers.ts';
import { keepReady } from '../live/failover/chain.ts';
import { ModelMeasures } from '../live/failover/choice/measures.ts';
import { shareMeasures } from '../live/failover/choice/share-measures.ts';
import { PlacesOfNode, StreamSlots } from '../live/failover/stream-slots.ts';
import type { NodeOfGateway } from '../live/routes/watch.ts';
import { SessionHost } from '../live/session/host.ts';
import type { SessionOpening } from '../live/session/session-opening.ts';
import { MachineCounter, serveHistory, serveLiveSessions } from '../live/session/watch/node-queries.ts';
import { serveProviderBreaks } from '../live/session/watch/provider-break.ts';
import { SessionsElsewhere } from '../live/session/watch/watch.ts';
import { WatchService } from '../live/session/watch/watch-service.ts';
import { HttpPools } from '../live/upstream/http/pools.ts';
import { DialHealth, LegService } from '../live/upstream/service/leg-service.ts';
import { UpstreamHost } from '../live/upstream/upstream-host.ts';
import { prepareCalls } from '../live/upstream/wire/grpc-wire.ts';
import { Recogniser } from '../recogniser/recogniser.ts';
import { IdleCollector } from '../runtime/collector.ts';
import { Quota } from '../runtime/limits/quota.ts';
import { LoopLoad, memoryShare, OverloadMonitor } from '../runtime/process-load.ts';
import { backgroundClock } from '../runtime/telemetry/clock.ts';
import { MetricsHistory } from '../runtime/telemetry/history.ts';
import { hasModel } from '../vendors/index.ts';
import { LoopbackEngine } from '../vendors/loopback/simulator.ts';
import { type Assembly, lastingName, servedProviders, serviceAccess, spoolDirectory } from './context.ts';
import { ObservedSessions } from './observing/observing.ts';
import type { OpenedVault } from './vault.ts';

/** Connections to one provider for utterances of live sessions: each holds one as long as its transcript takes. */
const UTTERANCE_CONNECTIONS = { connectionsMax: 1_024, waitingMax: 2_048 };

/** Sessions whose events are being kept. */
const KEPT_AT_A_TIME = 256;
/** Those of this time share a commit, which costs more than what is written. */
const KEPT_TOGETHER_MS = 50;

/** What holds connections to providers, for sessions and for files. */
export interface Live extends LegsOfNode {
  engines: { loopback: LoopbackEngine; local: Recogniser };
  upstream: UpstreamHost;
  overload: OverloadMonitor;
  machines: MachineCounter;
  /** What releases something when memory runs out. */
  relief: (() => void)[];
  /** Undefined on a single node. */
  placement: Placement | undefined;
}

interface LegsOfNode {
  /** Legs for sessions of any node; undefined on a node that holds no connections for sessions. */
  legs: LegService | undefined;
  /** What other nodes hear of them. */
  state(): UpstreamState | undefined;
}

/** The same on a node that serves clients. */
export interface EdgeLive extends Live {
  /** Sessions of any node. */
  elsewhere: SessionsElsewhere;
  /** All that are known, this one first. */
  nodes(): NodeOfGateway[];
  breakers: Breakers;
  /** How models have been doing. */
  measures: ModelMeasures;
  sessions: SessionHost;
  openSpool(organisationId: string): Spool;
  /** Finds names and addresses; undefined without such a service. */
  analyzer: Analyzer | undefined;
}

/** `members`: undefined on a single node. */
export function openLive(assembly: Assembly, vault: OpenedVault, members: Membership | undefined): Live {
  const { bus, clock } = assembly;
  const engines = openEngines(assembly);
  const upstream = openUpstream(assembly, vault, engines);
  const placement = members && upstreamPlacement({ members, bus, clock });
  const relief: Live['relief'] = [];
  const overload = openOverloadMonitor(assembly, relief);
  const machines = new MachineCounter({
    bus,
    nodes: () =>
      (members?.nodes() ?? []).filter(({ roles }) => roles.some((role) => role !== 'accounts')).map(({ node }) => node),
    nowMs: () => Date.now(),
  });
  assembly.defer(() => machines.close());
  const shared = { engines, upstream, placement, relief, overload, machines };
  if (!assembly.roles.has('upstream')) return { ...shared, legs: undefined, state: () => undefined };
  return { ...shared, ...openLegs(assembly, shared, members) };
}

/** `places`: what counts over all nodes; undefined on a single node. */
export function openEdgeLive(
  assembly: Assembly,
  vault: OpenedVault,
  members: Membership | undefined,
  places: ClusterLimits['places'] | undefined,
): EdgeLive {
  const { bus, clock, config, roles, metrics, defer } = assembly;
  const live = openLive(assembly, vault, members);
  const breakers = openBreakers(assembly, vault);
  const measures = new ModelMeasures(backgroundClock);
  const spools = openSpools(assembly);
  const openSpool = (organisationId: string) => spools.open(organisationId);
  const slots = openStreamSlots(assembly, places);
  const analyzer = openAnalyzer(assembly);
  const sessions = openSessions(assembly, live, { breakers, measures, analyzer, slots }, openSpool);
  if (members !== undefined) {
    const knows = (slug: string) => hasModel(assembly.providers, slug);
    const onDrop = (name: string) => metrics.dropped(name);
    defer(shareBreakers({ bus, breakers, knows, onDrop }));
    const others = {
      edges: () => members.count('edge'),
      onNodes: members.onNodes.bind(members),
      onGone: members.onGone.bind(members),
    };
    defer(shareMeasures({ bus, clock: backgroundClock, measures, ...others, knows, onDrop }));
    defer(members.onGone((node) => sessions.nodeGone(node)));
  }
  openHistory(assembly);
  const elsewhere = new SessionsElsewhere({ bus, clock, wallNow: () => new Date() });
  const alone = (): NodeOfGateway => ({
    id: lastingName(config),
    node: bus.node,
    roles: [...roles],
    sessions: sessions.size,
    sessionsMax: config.limits.sessionsPerNodeMax,
    legs: live.upstream.size,
    draining: false,
  });
  const nodes = () => members?.nodes() ?? [alone()];
  return { ...live, nodes, breakers, measures, sessions, elsewhere, openSpool, analyzer };
}

function openOverloadMonitor({ config, metrics, defer }: Assembly, relief: Live['relief']): OverloadMonitor {
  const overload = new OverloadMonitor({
    clock: backgroundClock,
    lagMsMax: config.limits.lagMsMax,
    memoryShare,
    onCritical: () => {
      for (const relieve of relief) relieve();
    },
  });
  defer(() => overload.close());
  metrics.watchGauge('lag_seconds', 'Recent event-loop lag in seconds.', () => overload.lagMs / 1000);
  metrics.watchGauge('memory_ratio', 'Fraction of the available memory in use.', memoryShare);
  return overload;
}

function openLegs(
  assembly: Assembly,
  { upstream, placement, overload, relief }: Pick<Live, 'upstream' | 'placement' | 'overload' | 'relief'>,
  members: Membership | undefined,
): LegsOfNode {
  const { bus, config, clock, metrics, defer } = assembly;
  const health = new DialHealth(clock, () => members?.changed());
  const shortOf = () => overload.shortOf ?? (upstream.size >= config.limits.legsPerNodeMax ? 'legs' : undefined);
  const legs = new LegService(bus, upstream, { placement, health, shortOf });
  defer(() => legs.close());
  relief.push(() => legs.shed());
  metrics.watchQueue('far_legs', () => legs.farLegs);
  if (members !== undefined) defer(members.onGone((node) => legs.nodeGone(node)));
  const providers = [...assembly.providers.keys()];
  const served = servedProviders(assembly);
  const credentials = providers.filter((name) => served.has(name));
  return {
    legs,
    state: () => ({ providers, credentials, failing: health.failing(), shortOf: shortOf() ?? null }),
  };
}

function openEngines({ config, clock, logger, metrics, defer }: Assembly): Live['engines'] {
  const local = new Recogniser({
    ...config.recogniser,
    models: new Map(config.localModels.map(({ name, model }) => [name, model])),
    onFault: (error) => logger.error({ err: error }, 'recogniser fault'),
  });
  defer(() => local.close());
  metrics.watchQueue('recogniser_bytes', () => local.queuedBytes);
  metrics.watchQueue('recogniser_streams', () => local.streams);
  metrics.watchGauge(
    'recogniser_slowed_streams',
    'Streams of the embedded recogniser that were slowed because of the use of their organisation, since the start.',
    () => local.slowed,
  );
  return { loopback: new LoopbackEngine(clock), local };
}

function openUpstream(assembly: Assembly, { access }: OpenedVault, engines: Live['engines']): UpstreamHost {
  const { providers, clock, logger, metrics, defer } = assembly;
  // Not those of uploads: an utterance is not to wait behind a file.
  const pools = new HttpPools(UTTERANCE_CONNECTIONS);
  defer(() => pools.close());
  const upstream = new UpstreamHost({
    providers,
    engines: { ...engines },
    voices: engines.local,
    access,
    clock,
    http: { pools, clock, onFault: (name, error) => logger.error({ err: error, action: name }, 'upstream fault') },
    onEvent: (event) => {
      if (event.type === 'leg.ended') metrics.legEnded(event.outcome);
      else if (event.type === 'gated') metrics.speechGated(event.outcome);
      else if (event.type === 'voice.checked') metrics.voiceChecked('utterance', event.outcome);
      else if (event.type === 'unread') metrics.dropped('unread_provider_message');
      else logger.error({ err: event.error, action: event.name }, 'upstream fault');
    },
  });
  defer(() => upstream.close());
  const calls = [...servedProviders(assembly)].flatMap((name) => providers.get(name)?.calls ?? []);
  prepareCalls(calls).catch((err) => logger.error({ err, action: 'prepareCalls' }, 'upstream fault'));
  metrics.watchQueue('upstream_legs', () => upstream.size);
  return upstream;
}

function openBreakers({ config, clock, logger, metrics, defer }: Assembly, { vault }: OpenedVault): Breakers {
  const { breakerFailuresMax, breakerOpenMs, breakerOpenMsMax } = config.upstream;
  const breakers = new Breakers({
    clock,
    failuresMax: breakerFailuresMax,
    openMs: breakerOpenMs,
    openMsMax: breakerOpenMsMax,
    onOwnKey: vault.noteUse,
    onChange: ({ slug, organisationId }, state) =>
      logger.warn({ model: slug, state, ...(organisationId === undefined ? {} : { organisationId }) }, 'breaker'),
    onFault: (error) => logger.error({ err: error }, 'breaker fault'),
  });
  metrics.watchGauge('breakers_open', 'Open circuit breakers, by model and credential.', () => breakers.openCount);
  defer(() => breakers.close());
  return breakers;
}

function openAnalyzer({ config, clock, metrics, defer }: Assembly): Analyzer | undefined {
  const { serviceUrl: url, timeoutMs, languages } = config.redaction;
  if (url === undefined) return undefined;
  const analyzer = new Analyzer({
    ...{ url, timeoutMs, clock },
    languages: languages.split(',').map((each) => each.trim()),
    onCall: (outcome) => metrics.redactionCall(outcome),
  });
  metrics.watchQueue('redaction_calls', () => analyzer.underWay);
  defer(() => analyzer.close());
  return analyzer;
}

function openSpools({ config, logger, metrics }: Assembly): FileSpools {
  const directory = spoolDirectory(config);
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const spools = new FileSpools({
    directory,
    quota: new Quota(Math.floor(config.session.spoolNodeBytesMax / BLOCK_BYTES)),
    onFault: (error) => logger.error({ err: error }, 'spool fault'),
  });
  metrics.watchQueue('spool_bytes', () => spools.bytes);
  return spools;
}

function openStreamSlots(
  { config, clock, metrics }: Assembly,
  places: ClusterLimits['places'] = new PlacesOfNode(),
): StreamSlots {
  const maxOf = new Map(
    Object.entries(config.providers).flatMap(([provider, { streamsMax }]) =>
      streamsMax === undefined ? [] : [[provider, streamsMax] as const],
    ),
  );
  return new StreamSlots({
    maxOf: (provider) => maxOf.get(provider),
    places,
    clock,
    onFull: (provider) => metrics.streamsFull(provider),
  });
}

function openSessions(
  assembly: Assembly,
  { engines, overload, relief, placement }: Live,
  {
    breakers,
    measures,
    analyzer,
    slots,
  }: Pick<EdgeLive, 'breakers' | 'measures' | 'analyzer'> & { slots: StreamSlots },
  openSpool: EdgeLive['openSpool'],
): SessionHost {
  const { config, clock, metrics, bus, roles, defer } = assembly;
  const keep = keepEvents(assembly);
  const observed = new ObservedSessions(assembly, { measures });
  const dials = new DialGate(config.upstream.dialsPerModelMax);
  metrics.watchQueue('waiting_dials', () => dials.waiting);
  const busy = new LoopLoad(backgroundClock);
  defer(() => busy.close());
  metrics.watchGauge(
    'busy_ratio',
    'How busy the event loop is with live audio: from 0.2 on frames have half of the ideal size, from 0.5 on all of it.',
    () => busy.share,
  );
  const sessions = new SessionHost({
    shortOf: () => overload.shortOf,
    bus,
    clock,
    wallNow: () => new Date(),
    settings: { ...config.session, ...config.limits },
    totals: metrics,
    sessionsMax: config.limits.sessionsPerNodeMax,
    openSpool,
    gathering: { low: { share: 0 }, balanced: busy, throughput: { share: 1 } },
    access: serviceAccess(assembly),
    placement,
    // A node without connections of its own has its models on others.
    keepReady: (chain) => keepReady(roles.has('upstream') ? chain : [], engines),
    voices: engines.local,
    analyzer,
    breakers,
    measures,
    slots,
    dials,
    observe: (opening) => observed.observe(opening),
    onOpened: (opening) => observed.opened(opening),
    onEnded: (opening, summary, frames) => {
      observed.ended(opening, summary);
      keep(opening, frames);
    },
    onFault: (...fault) => observed.fault(...fault),
  });
  const idle = new IdleCollector({ clock: backgroundClock, sessions: () => sessions.size });
  defer(() => idle.close());
  relief.push(() => sessions.shed());
  metrics.watchSessions(() => ({ ...sessions.countByPhase() }));
  const { nodeChart } = assembly;
  const onDrop = (name: 'watch_frames') => metrics.dropped(name);
  const watching = new WatchService({ bus, sessions, clock, breakers, nodeChart, onDrop });
  defer(() => watching.close());
  defer(serveProviderBreaks(bus, sessions));
  defer(serveLiveSessions(bus, sessions));
  return sessions;
}

/** Keeps what happened in sessions that have ended, a bounded number at a time: what is beyond is dropped, and counted. */
function keepEvents({ store, metrics, defer }: Assembly) {
  let underWay = 0;
  let gathered: (() => void)[] = [];
  let timer: unknown;
  let isClosing = false;
  metrics.watchQueue('session_events', () => underWay);
  const keepGathered = (): void => {
    timer = undefined;
    const calls = gathered;
    gathered = [];
    for (const call of calls) call();
  };
  defer(() => {
    isClosing = true;
    backgroundClock.clearTimeout(timer);
    keepGathered();
  });
  return ({ organisationId, sessionId }: SessionOpening, frames: readonly WatchedFrame[]) => {
    if (underWay >= KEPT_AT_A_TIME) {
      metrics.dropped('session_events');
      return;
    }
    underWay++;
    gathered.push(() =>
      store
        .keepSessionEvents(organisationId, sessionId, JSON.stringify(frames))
        .catch(() => metrics.dropped('session_events'))
        .finally(() => {
          underWay--;
        }),
    );
    if (isClosing) keepGathered();
    else timer ??= backgroundClock.setTimeout(keepGathered, KEPT_TOGETHER_MS);
  };
}

// What a node remembers of its metrics for the charts of the console, told to the nodes that ask for it.
export function openHistory({ bus, metrics, defer }: Pick<Assembly, 'bus' | 'metrics' | 'defer'>): void {
  const history = new MetricsHistory({
    totals: () => metrics.modelTotals(),
    sessions: () => metrics.countSessions(),
    clock: backgroundClock,
    wallNowMs: () => Date.now(),
  });
  defer(() => history.close());
  defer(serveHistory(bus, history));
}
