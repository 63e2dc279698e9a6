// What is counted, logged and traced of live sessions and files as they go: all of it from the moments that they tell.
import type { Clock } from '../../../machines/clock.ts';
import { tagsOfText } from '../../api/tags.ts';
import { BusError } from '../../cluster/bus/bus.ts';
import type { FileObserver, ObservedFile } from '../../files/transcribe.ts';
import type { ModelMeasures } from '../../live/failover/choice/measures.ts';
import { LegUnplaced } from '../../live/session/leg/leg-dialer.ts';
import type { LegNote } from '../../live/session/leg/leg-record.ts';
import type { SessionOpening, SessionSummary } from '../../live/session/session-opening.ts';
import type { SessionObserver } from '../../live/session/watch/session-observer.ts';
import type { Logger } from '../../runtime/telemetry/log.ts';
import type { Metrics } from '../../runtime/telemetry/metrics.ts';
import type { Tracing } from '../../runtime/telemetry/tracing.ts';
import { hasModel, type Providers } from '../../vendors/index.ts';
import type { Assembly } from '../context.ts';
import { NodeTrouble } from './node-trouble.ts';
import { FileTrace, SessionTrace } from './session-trace.ts';

const LEG_LINES: Partial<Record<LegNote['event'], string>> = {
  opened: 'leg opened',
  ready: 'leg ready',
  failed: 'leg failed',
  closed: 'leg closed',
};
/** A session that changes its legs more often than this is told of by its end alone. */
const LEG_LINES_MAX = 64;

const wallNowMs = () => Date.now();

/** Whether a node did not do its part, and no line of code is to blame. */
const isNodeTrouble = (error: unknown): error is Error =>
  error instanceof LegUnplaced || (error instanceof BusError && error.reason !== 'handler_failed');

/** As a label: a model of the catalogue. */
type Label = (slug: string) => string;

const labelsOf =
  (providers: Providers): Label =>
  (slug) =>
    hasModel(providers, slug) ? slug : 'other';

export class ObservedSessions {
  readonly #assembly: Pick<Assembly, 'metrics' | 'logger' | 'bus' | 'tracing' | 'providers'>;
  /** Of the sessions that are live. */
  readonly #counts = new Map<string, SessionCounts>();
  /** Of the sessions that are traced. */
  readonly #traces = new Map<string, SessionTrace>();

  readonly #trouble: NodeTrouble;
  readonly #measures: Pick<ModelMeasures, 'delayed'> | undefined;

  constructor(
    assembly: Pick<Assembly, 'metrics' | 'logger' | 'bus' | 'tracing' | 'providers'>,
    { measures, now }: { measures?: Pick<ModelMeasures, 'delayed'>; now?: () => number } = {},
  ) {
    this.#assembly = assembly;
    this.#measures = measures;
    this.#trouble = new NodeTrouble(assembly.logger, 'no node opened a connection to a provider', now);
  }

  observe(opening: SessionOpening): SessionObserver {
    const { metrics, logger, bus, tracing, providers } = this.#assembly;
    const trace = tracing && this.#trace(opening, tracing, metrics);
    const counts = new SessionCounts(metrics, bus.node, labelsOf(providers));
    const measures = this.#measures;
    this.#counts.set(opening.sessionId, counts);
    const tellLeg = legLines(trace === undefined ? logger : logger.child(idsOf(trace)), opening.sessionId);
    return {
      leg(note) {
        counts.leg(note);
        trace?.leg(note);
        tellLeg(note);
      },
      turn(note) {
        counts.turn(note);
        if (note.partialMs !== undefined) measures?.delayed('live', note.model, note.partialMs);
        trace?.turn(note);
      },
      failover(note) {
        counts.failover(note);
        trace?.failover(note);
      },
      warned: (code) => trace?.warned(code),
      audioPassed: (model, delayMs) => counts.audioPassed(model, delayMs),
    };
  }

  opened(opening: SessionOpening): void {
    const { metrics, logger, bus } = this.#assembly;
    metrics.sessionOpened();
    logger.info({ ...this.#fieldsOf(opening), sessionNode: bus.node }, 'session opened');
  }

  ended(opening: SessionOpening, summary: SessionSummary): void {
    const { metrics, logger } = this.#assembly;
    metrics.sessionEnded(summary.reason);
    logger.info({ ...this.#fieldsOf(opening), ...summary }, 'session ended');
    this.#counts.get(opening.sessionId)?.ended();
    this.#counts.delete(opening.sessionId);
    this.#traces.get(opening.sessionId)?.ended(summary);
    this.#traces.delete(opening.sessionId);
  }

  fault(sessionId: string, action: string, error: unknown): void {
    if (isNodeTrouble(error)) {
      this.#trouble.add({ sessionId, reason: error.message });
      return;
    }
    this.#assembly.logger.error(
      { sessionId, action, err: error, ...idsOf(this.#traces.get(sessionId)) },
      'session fault',
    );
  }

  #trace(opening: SessionOpening, tracing: Tracing, metrics: Metrics): SessionTrace {
    const trace = new SessionTrace(opening, { tracing, nowMs: wallNowMs, onDrop: (name) => metrics.dropped(name) });
    this.#traces.set(opening.sessionId, trace);
    return trace;
  }

  #fieldsOf({ sessionId, requestId, organisationId, keyId, request, tags }: SessionOpening) {
    const ids = idsOf(this.#traces.get(sessionId));
    const tagged = tags === undefined ? {} : { tags: tagsOfText(tags) };
    return { sessionId, requestId, organisationId, keyId, model: request.model, ...tagged, ...ids };
  }
}

/** As the log of OpenTelemetry calls them. */
const idsOf = (trace: SessionTrace | undefined) =>
  trace === undefined ? {} : { trace_id: trace.span.traceId, span_id: trace.span.spanId };

function legLines(logger: Logger, sessionId: string): (note: LegNote) => void {
  let lines = 0;
  return ({ event, ...note }) => {
    const line = LEG_LINES[event];
    if (line === undefined || lines >= LEG_LINES_MAX) return;
    lines++;
    logger.info({ sessionId, ...note }, line);
  };
}

/** What is counted of one session. */
class SessionCounts implements Omit<SessionObserver, 'warned'> {
  readonly #metrics: Metrics;
  readonly #node: string;
  readonly #label: Label;
  /** Where the current leg is. */
  #leg: 'near' | 'far' = 'near';
  /** The model of its connection, while there is one or one is requested. */
  #model: string | undefined;

  constructor(metrics: Metrics, node: string, label: Label) {
    this.#metrics = metrics;
    this.#node = node;
    this.#label = label;
  }

  leg({ event, model, legNode, dialMs = 0, reason = 'unknown' }: LegNote): void {
    const label = this.#label(model);
    if (event === 'asked') this.#metrics.attempted('live', label);
    // One that was passed over was never requested.
    if (event === 'failed' && this.#model !== undefined) this.#metrics.attemptFailed('live', label, reason);
    this.#concerns(event === 'failed' || event === 'closed' ? undefined : label);
    if (event === 'opened') this.#leg = legNode === this.#node ? 'near' : 'far';
    else if (event === 'ready') this.#metrics.dialled(label, dialMs / 1000);
  }

  ended(): void {
    this.#concerns(undefined);
  }

  #concerns(model: string | undefined): void {
    if (model === this.#model) return;
    if (this.#model !== undefined) this.#metrics.underWay('live', this.#model, -1);
    if (model !== undefined) this.#metrics.underWay('live', model, 1);
    this.#model = model;
  }

  turn({ model, partialMs, finalMs, gatewayMs }: Parameters<SessionObserver['turn']>[0]): void {
    const label = this.#label(model);
    if (partialMs !== undefined) this.#metrics.partialHeard(label, partialMs / 1000);
    if (finalMs !== undefined) this.#metrics.finalTold(label, finalMs / 1000);
    this.#metrics.passed('to_client', this.#leg, label, gatewayMs / 1000);
  }

  failover({ from, reason }: Parameters<SessionObserver['failover']>[0]): void {
    this.#metrics.failedOver('live', this.#label(from), reason);
  }

  audioPassed(model: string, delayMs: number): void {
    this.#metrics.passed('to_provider', this.#leg, this.#label(model), delayMs / 1000);
  }
}

/** What is counted and traced of one file. */
export function observeFile(
  file: ObservedFile,
  { metrics, clock, tracing, providers }: Pick<Assembly, 'metrics' | 'tracing' | 'providers'> & { clock: Clock },
): FileObserver {
  const label = labelsOf(providers);
  const trace = tracing && new FileTrace(file, tracing, wallNowMs);
  let askedMs = 0;
  let failed: { model: string; reason: string } | undefined;
  let asked: string | undefined;
  const concerns = (model: string | undefined) => {
    if (asked !== undefined) metrics.underWay('file', asked, -1);
    if (model !== undefined) metrics.underWay('file', model, 1);
    asked = model;
  };
  return {
    tagged: (tags) => trace?.tagged(tags),
    asked(model) {
      askedMs = clock.now();
      metrics.attempted('file', label(model));
      concerns(label(model));
      if (failed !== undefined && failed.model !== model)
        metrics.failedOver('file', label(failed.model), failed.reason);
      failed = undefined;
      trace?.asked(model);
    },
    answered(model) {
      metrics.fileAnswered(label(model), (clock.now() - askedMs) / 1000);
      concerns(undefined);
      trace?.answered(model);
    },
    failed(model, reason) {
      failed = { model, reason };
      if (asked !== undefined) metrics.attemptFailed('file', label(model), reason);
      concerns(undefined);
      trace?.failed(model, reason);
    },
    ended(code) {
      concerns(undefined);
      trace?.ended(code);
    },
  };
}
