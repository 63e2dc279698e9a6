// The live side of a node: engines, connections to providers, breakers and sessions, joined by the bus.
import { mkdirSync } from 'node:fs';
import { FileSpools } from '../audio/spool.ts';
import { LoopbackEngine } from '../providers/loopback/simulator.ts';
import { RecogniserPool } from '../recogniser/pool.ts';
import { DialGate } from '../session/admission.ts';
import { Breakers } from '../session/breakers.ts';
import { SessionHost } from '../session/host.ts';
import { serveLegs } from '../session/leg-service.ts';
import type { SessionOpening, SessionSummary } from '../session/session-opening.ts';
import { UpstreamHost } from '../upstream/live.ts';
import { type Assembly, knownProviders, serviceAccess, spoolDirectory } from './context.ts';
import type { OpenedVault } from './vault.ts';

export interface Live {
  engines: { loopback: LoopbackEngine; local: RecogniserPool };
  upstream: UpstreamHost;
  breakers: Breakers;
  sessions: SessionHost;
}

export function openLive(assembly: Assembly, vault: OpenedVault): Live {
  const engines = openEngines(assembly);
  const upstream = openUpstream(assembly, vault, engines);
  const breakers = openBreakers(assembly, vault);
  return { engines, upstream, breakers, sessions: openSessions(assembly, breakers) };
}

function openEngines({ config, clock, logger, metrics, defer }: Assembly): Live['engines'] {
  const local = new RecogniserPool({
    ...config.recogniser,
    onFault: (error) => logger.error({ err: error }, 'recogniser fault'),
  });
  defer(() => local.close());
  metrics.watchQueue('recogniser_bytes', () => local.queuedBytes);
  metrics.watchQueue('recogniser_streams', () => local.streams);
  return { loopback: new LoopbackEngine(clock), local };
}

function openUpstream(
  { clock, logger, metrics, bus, defer }: Assembly,
  { access }: OpenedVault,
  engines: Live['engines'],
): UpstreamHost {
  const upstream = new UpstreamHost({
    providers: knownProviders,
    engines: { ...engines },
    access,
    clock,
    onEvent: (event) => {
      if (event.type === 'leg.ended') metrics.legEnded(event.outcome);
      else if (event.type === 'unread') metrics.dropped('unread_provider_message');
      else logger.error({ err: event.error, action: event.name }, 'upstream fault');
    },
  });
  defer(() => upstream.close());
  defer(serveLegs(bus, upstream));
  metrics.watchQueue('upstream_legs', () => upstream.size);
  return upstream;
}

function openBreakers({ config, clock, logger, defer }: Assembly, { vault }: OpenedVault): Breakers {
  const { breakerFailuresMax, breakerOpenMs, breakerOpenMsMax } = config.upstream;
  const breakers = new Breakers({
    clock,
    failuresMax: breakerFailuresMax,
    openMs: breakerOpenMs,
    openMsMax: breakerOpenMsMax,
    onOwnKey: vault.noteUse,
    onChange: (model, state) => logger.warn({ model, state }, 'breaker'),
    onFault: (error) => logger.error({ err: error }, 'breaker fault'),
  });
  defer(() => breakers.close());
  return breakers;
}

function openSessions(assembly: Assembly, breakers: Breakers): SessionHost {
  const { config, clock, logger, metrics, bus } = assembly;
  const directory = spoolDirectory(config);
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const spools = new FileSpools({
    directory,
    bytesMax: config.session.spoolNodeBytesMax,
    onFault: (error) => logger.error({ err: error }, 'spool fault'),
  });
  metrics.watchQueue('spool_bytes', () => spools.bytes);
  const dials = new DialGate(config.upstream.dialsPerModelMax);
  metrics.watchQueue('waiting_dials', () => dials.waiting);
  const sessions = new SessionHost({
    bus,
    clock,
    wallNow: () => new Date(),
    settings: { ...config.session, ...config.limits },
    totals: metrics,
    sessionsMax: config.limits.sessionsPerNodeMax,
    openSpool: () => spools.open(),
    access: serviceAccess(config),
    breakers,
    dials,
    onOpened: () => metrics.sessionOpened(),
    onEnded: (opening, summary) => ended(assembly, opening, summary),
    onFault: (sessionId, action, error) => logger.error({ sessionId, action, err: error }, 'session fault'),
  });
  metrics.watchSessions(() => ({ ...sessions.countByPhase() }));
  return sessions;
}

function ended({ metrics, logger }: Assembly, opening: SessionOpening, summary: SessionSummary): void {
  metrics.sessionEnded(summary.reason);
  for (let count = 0; count < summary.failovers; count++) metrics.failedOver();
  const { sessionId, requestId, organisationId, keyId, request } = opening;
  logger.info({ sessionId, requestId, organisationId, keyId, model: request.model, ...summary }, 'session ended');
}
