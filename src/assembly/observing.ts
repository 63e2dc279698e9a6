// What is counted and logged of each live session as it goes: all of it from the moments that the session tells.
import type { Clock } from '../../machines/clock.ts';
import { providerOf } from '../api/slug.ts';
import type { LegNote } from '../session/leg/leg-notes.ts';
import type { SessionOpening, SessionSummary } from '../session/session-opening.ts';
import type { SessionObserver } from '../session/watch/session-observer.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import type { FileObserver } from '../transcription/file-observer.ts';
import { type Assembly, knownProviders } from './context.ts';

const LEG_LINES: Partial<Record<LegNote['event'], string>> = {
  opened: 'leg opened',
  ready: 'leg ready',
  failed: 'leg failed',
  closed: 'leg closed',
};
/** A session that changes its legs more often than this is told of by its end alone. */
export const LEG_LINES_MAX = 64;

/** As a label: a model of the catalogue. */
export const modelLabel = (slug: string): string =>
  knownProviders.get(providerOf(slug))?.models.some(({ id }) => id === slug) === true ? slug : 'other';

export function observeSession(
  { metrics, logger, bus }: Pick<Assembly, 'metrics' | 'logger' | 'bus'>,
  _opening: SessionOpening,
): SessionObserver {
  let lines = 0;
  let leg: 'near' | 'far' = 'near';
  const delays = delaysOf(metrics, () => leg);
  return {
    ...delays,
    leg(note) {
      const { event, ...rest } = note;
      if (event === 'opened') leg = note.legNode === bus.node ? 'near' : 'far';
      delays.leg(note);
      const line = LEG_LINES[event];
      if (line === undefined || lines >= LEG_LINES_MAX) return;
      lines++;
      logger.info(rest, line);
    },
    warned() {},
  };
}

/** The part of it that is counted. */
function delaysOf(metrics: Metrics, leg: () => 'near' | 'far'): Omit<SessionObserver, 'warned'> {
  return {
    leg({ event, model, dialMs = 0 }) {
      if (event === 'ready') metrics.dialled(modelLabel(model), dialMs / 1000);
    },
    turn({ model, partialMs, finalMs, gatewayMs }) {
      const label = modelLabel(model);
      if (partialMs !== undefined) metrics.partialHeard(label, partialMs / 1000);
      if (finalMs !== undefined) metrics.finalTold(label, finalMs / 1000);
      metrics.passed('to_client', leg(), label, gatewayMs / 1000);
    },
    failover: ({ from, reason }) => metrics.failedOver('live', modelLabel(from), reason),
    audioPassed: (model, delayMs) => metrics.passed('to_provider', leg(), modelLabel(model), delayMs / 1000),
  };
}

/** What is counted of one file. */
export function observeFile(metrics: Metrics, clock: Clock): FileObserver {
  let askedMs = 0;
  let failed: { model: string; reason: string } | undefined;
  return {
    asked(model) {
      askedMs = clock.now();
      if (failed !== undefined && failed.model !== model)
        metrics.failedOver('file', modelLabel(failed.model), failed.reason);
      failed = undefined;
    },
    answered: (model) => metrics.fileAnswered(modelLabel(model), (clock.now() - askedMs) / 1000),
    failed(model, reason) {
      failed = { model, reason };
    },
    ended() {},
  };
}

export function sessionOpened({ metrics, logger, bus }: Assembly, opening: SessionOpening): void {
  metrics.sessionOpened();
  const { sessionId, requestId, organisationId, keyId, request } = opening;
  logger.info(
    { sessionId, requestId, organisationId, keyId, model: request.model, sessionNode: bus.node },
    'session opened',
  );
}

export function sessionEnded({ metrics, logger }: Assembly, opening: SessionOpening, summary: SessionSummary): void {
  metrics.sessionEnded(summary.reason);
  const { sessionId, requestId, organisationId, keyId, request } = opening;
  logger.info({ sessionId, requestId, organisationId, keyId, model: request.model, ...summary }, 'session ended');
}
