// The spans of one live session: its own, and below it those of legs, turns and failovers, made of the moments that it tells. Legs on
// other nodes are among them, since it is the session that knows them all. Names, times and figures; never what was said.

import type { FailureReason } from '../../../machines/events.ts';
import { ownerOf } from '../../api/slug.ts';
import { tagsOfText } from '../../api/tags.ts';
import type { FileObserver, ObservedFile } from '../../files/transcribe.ts';
import type { LegNote } from '../../live/session/leg/leg-record.ts';
import type { SessionOpening, SessionSummary } from '../../live/session/session-opening.ts';
import type { FailoverNote, SessionObserver, TurnNote } from '../../live/session/watch/session-observer.ts';
import type { Attributes, TraceSpan, Tracing } from '../../runtime/telemetry/tracing.ts';
import { releaseVersion } from '../../runtime/version.ts';
import { type Assembly, lastingName } from '../context.ts';

/** Spans below that of one session: further ones are left out, counted as `session_spans` and named by number at its end. */
export const CHILDREN_MAX = 512;

/** By the conventions for generative models, as far as they know of speech. */
export const ofModel = (model: string): Attributes => ({
  'gen_ai.operation.name': 'transcription',
  'gen_ai.provider.name': ownerOf(model),
  'gen_ai.request.model': model,
});

const ofTags = (tags: string): Attributes =>
  Object.fromEntries(Object.entries(tagsOfText(tags)).map(([key, value]) => [`voxgate.tag.${key}`, value]));

export interface SessionTraceOptions {
  tracing: Tracing;
  nowMs(): number;
  onDrop(name: 'session_spans'): void;
}

export class SessionTrace implements Pick<SessionObserver, 'leg' | 'turn' | 'failover' | 'warned'> {
  readonly span: TraceSpan;
  readonly #options: SessionTraceOptions;
  #leg: TraceSpan | undefined;
  #legSinceMs = 0;
  /** When the first leg was lost that no other has replaced yet. */
  #lostMs: number | undefined;
  #children = 0;
  #leftOut = 0;

  constructor(opening: SessionOpening, options: SessionTraceOptions) {
    this.#options = options;
    const { sessionId, requestId, organisationId, request, traceparent, tags } = opening;
    const attributes: Attributes = {
      ...ofModel(request.model),
      'voxgate.session.id': sessionId,
      'voxgate.request.id': requestId,
      'voxgate.organisation.id': organisationId,
      'voxgate.fallbacks': request.fallbacks.length,
      ...(tags === undefined ? {} : ofTags(tags)),
    };
    this.span = options.tracing.start('session', { kind: 'server', atMs: options.nowMs(), attributes }, traceparent);
  }

  leg(note: LegNote): void {
    const { event, legNode, dialMs = 0, reason = 'failed' } = note;
    const nowMs = this.#options.nowMs();
    if (event === 'asked') this.#beginLeg(note, nowMs);
    else if (event === 'opened') {
      // Its first node could not reach the provider, and another one was asked.
      if (this.#leg === undefined) this.#beginLeg(note, nowMs);
      if (legNode !== null) this.#leg?.set({ 'voxgate.leg.node': legNode });
    } else if (event === 'ready') {
      this.#legSinceMs = nowMs;
      this.#leg?.event('ready', nowMs, { 'voxgate.leg.dial_seconds': dialMs / 1000 });
    } else if (event === 'failed') {
      this.#lostMs ??= nowMs;
      this.#leg?.end(nowMs, reason);
      this.#leg = undefined;
    } else {
      this.#leg?.end(nowMs);
      this.#leg = undefined;
    }
  }

  turn({ turn, model, start, end, partialMs, finalMs, gatewayMs }: TurnNote): void {
    const nowMs = this.#options.nowMs();
    this.#lostMs = undefined;
    // From when its audio was handed over in its own time; a leg that replays is handed it faster.
    const atMs = Math.max(Math.min(this.#legSinceMs, nowMs), nowMs - (finalMs ?? 0) - (end - start) * 1000);
    const span = this.#child('turn', atMs, 'internal', {
      ...ofModel(model),
      'voxgate.turn': turn,
      'voxgate.turn.start': start,
      'voxgate.turn.end': end,
      'voxgate.turn.gateway_seconds': gatewayMs / 1000,
      ...(partialMs === undefined ? {} : { 'voxgate.turn.partial_delay_seconds': partialMs / 1000 }),
      ...(finalMs === undefined ? {} : { 'voxgate.turn.final_delay_seconds': finalMs / 1000 }),
    });
    span?.end(nowMs);
  }

  /** From the loss of the leg until another model took over. */
  failover({ from, to, reason, replayedSeconds }: FailoverNote): void {
    const nowMs = this.#options.nowMs();
    const span = this.#child('failover', this.#lostMs ?? nowMs, 'internal', {
      'voxgate.failover.from': from,
      'voxgate.failover.to': to,
      'voxgate.failover.replayed_seconds': replayedSeconds,
      'error.type': reason,
    });
    span?.end(nowMs);
    this.#lostMs = undefined;
  }

  warned(code: string): void {
    this.span.event('warning', this.#options.nowMs(), { 'voxgate.code': code });
  }

  ended({ reason, code, seconds, turns, failovers, undeliveredFinals }: SessionSummary): void {
    const nowMs = this.#options.nowMs();
    this.#leg?.end(nowMs);
    this.#leg = undefined;
    this.span.set({
      'voxgate.session.end_reason': reason,
      'voxgate.audio_seconds': seconds,
      'voxgate.turns': turns,
      'voxgate.failovers': failovers,
      'voxgate.undelivered_finals': undeliveredFinals,
      ...(this.#leftOut === 0 ? {} : { 'voxgate.spans_left_out': this.#leftOut }),
    });
    this.span.end(nowMs, code ?? undefined);
  }

  #beginLeg({ model, generation }: LegNote, nowMs: number): void {
    this.#leg?.end(nowMs);
    this.#leg = this.#child(`transcription ${model}`, nowMs, 'client', {
      ...ofModel(model),
      'voxgate.leg.generation': generation,
    });
  }

  #child(name: string, atMs: number, kind: 'client' | 'internal', attributes: Attributes): TraceSpan | undefined {
    if (!this.span.isSampled) return undefined;
    if (this.#children >= CHILDREN_MAX) {
      this.#leftOut++;
      this.#options.onDrop('session_spans');
      return undefined;
    }
    this.#children++;
    return this.span.child(name, { kind, atMs, attributes });
  }
}

// The spans of one file: its own, and below it one for each model that was asked.
export class FileTrace implements FileObserver {
  readonly #span: TraceSpan;
  readonly #nowMs: () => number;
  #attempt: TraceSpan | undefined;

  constructor({ requestId, organisationId, traceparent }: ObservedFile, tracing: Tracing, nowMs: () => number) {
    this.#nowMs = nowMs;
    const attributes = { 'voxgate.request.id': requestId, 'voxgate.organisation.id': organisationId };
    this.#span = tracing.start('file', { kind: 'server', atMs: nowMs(), attributes }, traceparent);
  }

  tagged(tags: string): void {
    this.#span.set(ofTags(tags));
  }

  asked(model: string): void {
    this.#end();
    const atMs = this.#nowMs();
    this.#attempt = this.#span.child(`transcription ${model}`, { kind: 'client', atMs, attributes: ofModel(model) });
  }

  answered(model: string): void {
    this.#span.set(ofModel(model));
    this.#end();
  }

  failed(_: string, reason: FailureReason): void {
    this.#end(reason);
  }

  ended(code: string | undefined): void {
    this.#end(code);
    this.#span.end(this.#nowMs(), code);
  }

  #end(error?: string): void {
    this.#attempt?.end(this.#nowMs(), error);
    this.#attempt = undefined;
  }
}

// Traces of a node: opened where a collector is named, counted, and sent to the end when the node stops.
export async function openTraces({
  config,
  logger,
  metrics,
  node,
  defer,
}: Pick<Assembly, 'config' | 'logger' | 'metrics' | 'defer'> & { node: string }): Promise<Tracing | undefined> {
  const { endpoint, tracesEndpoint, disabled } = config.tracing;
  if (disabled === 'true' || (endpoint === undefined && tracesEndpoint === undefined)) return undefined;
  // The SDK is loaded only where an operator has named a collector.
  const { SdkTracing } = await import('../../runtime/telemetry/sdk-tracing.ts');
  const tracing = new SdkTracing({
    settings: config.tracing,
    resource: {
      'service.version': releaseVersion(),
      'service.instance.id': lastingName(config),
      'voxgate.node': node,
    },
    listener: {
      exported: (outcome, spans) => metrics.traced(outcome, spans),
      dropped: () => metrics.dropped('trace_spans'),
      fault: (error) => logger.warn({ err: error }, 'traces not sent'),
    },
  });
  metrics.watchQueue('trace_spans', () => tracing.waiting);
  defer(() => tracing.close());
  return tracing;
}
