// Traces by the official SDK, sent as OTLP over HTTP. Which spans there are is decided by who starts them; here, which traces are kept
// and how many spans may wait.
import {
  type Context,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  type Tracer,
  trace,
} from '@opentelemetry/api';
import { type ExportResult, ExportResultCode, parseKeyPairsIntoRecord, parseTraceParent } from '@opentelemetry/core';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import { defaultResource, resourceFromAttributes } from '@opentelemetry/resources';
import {
  BatchSpanProcessor,
  type Span as ProcessedSpan,
  type ReadableSpan,
  type Sampler,
  SamplingDecision,
  type SpanExporter,
  type SpanProcessor,
  TracerProvider,
} from '@opentelemetry/sdk-trace';
import type {
  Attributes,
  SpanStart,
  TraceSpan,
  Tracing,
  TracingListener,
  TracingOptions,
  TracingSettings,
} from './tracing.ts';

/** How long the end of the process waits for a collector. */
const FLUSH_MS = 2_000;

const KINDS = { server: SpanKind.SERVER, client: SpanKind.CLIENT, internal: SpanKind.INTERNAL };

export class SdkTracing implements Tracing {
  readonly #provider: TracerProvider;
  readonly #tracer: Tracer;
  readonly #queue: QueueBound;

  constructor({ settings, resource, listener }: TracingOptions) {
    const { serviceName, resourceAttributes = '', timeoutMs, queueMax, batchMax, delayMs } = settings;
    const exporter = new CountedExporter(
      new OTLPTraceExporter({ url: urlOf(settings), headers: headersOf(settings), timeoutMillis: timeoutMs }),
      listener,
    );
    const batches = new BatchSpanProcessor({
      exporter,
      maxQueueSize: queueMax,
      maxExportBatchSize: Math.min(batchMax, queueMax),
      scheduledDelayMillis: delayMs,
      exportTimeoutMillis: timeoutMs,
    });
    this.#queue = new QueueBound(batches, queueMax, () => listener.dropped());
    exporter.onSettled = (spans) => this.#queue.settled(spans);
    this.#provider = new TracerProvider({
      resource: defaultResource().merge(
        resourceFromAttributes({
          ...resource,
          ...parseKeyPairsIntoRecord(resourceAttributes),
          'service.name': serviceName,
        }),
      ),
      sampler: samplerOf(settings),
      spanProcessors: [this.#queue],
    });
    this.#tracer = this.#provider.getTracer('voxgate');
  }

  get waiting(): number {
    return this.#queue.waiting;
  }

  start(name: string, start: SpanStart, traceparent: string | undefined): TraceSpan {
    const parent = traceparent === undefined ? null : parseTraceParent(traceparent);
    const context = parent === null ? ROOT_CONTEXT : trace.setSpanContext(ROOT_CONTEXT, { ...parent, isRemote: true });
    return new SdkSpan(this.#tracer, context, name, start);
  }

  async close(): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, FLUSH_MS);
    });
    // What could not be sent was counted.
    await Promise.race([this.#provider.shutdown().catch(() => {}), late]);
    clearTimeout(timer);
  }
}

class SdkSpan implements TraceSpan {
  readonly #tracer: Tracer;
  readonly #context: Context;
  readonly #span: Span;

  constructor(tracer: Tracer, parent: Context, name: string, { kind = 'internal', atMs, attributes }: SpanStart) {
    this.#tracer = tracer;
    this.#span = tracer.startSpan(name, { kind: KINDS[kind], startTime: atMs, attributes }, parent);
    this.#context = trace.setSpan(ROOT_CONTEXT, this.#span);
  }

  get traceId(): string {
    return this.#span.spanContext().traceId;
  }

  get spanId(): string {
    return this.#span.spanContext().spanId;
  }

  get isSampled(): boolean {
    return this.#span.isRecording();
  }

  child(name: string, start: SpanStart): TraceSpan {
    return new SdkSpan(this.#tracer, this.#context, name, start);
  }

  set(attributes: Attributes): void {
    this.#span.setAttributes(attributes);
  }

  event(name: string, atMs: number, attributes: Attributes = {}): void {
    this.#span.addEvent(name, attributes, atMs);
  }

  end(atMs: number, error?: string): void {
    if (error !== undefined) {
      this.#span.setAttribute('error.type', error);
      this.#span.setStatus({ code: SpanStatusCode.ERROR });
    }
    this.#span.end(atMs);
  }
}

/** The standard's: the first variable is the beginning of the path, the second all of it. */
const urlOf = ({ endpoint = '', tracesEndpoint }: TracingSettings): string =>
  tracesEndpoint ?? `${endpoint.replace(/\/$/, '')}/v1/traces`;

const headersOf = ({ headers = '' }: TracingSettings): Record<string, string> => parseKeyPairsIntoRecord(headers);

/**
 * What is kept of a trace that begins here. What a client says of its own, and the id that it gives it, decide nothing: else it could
 * have all of its sessions kept.
 */
function samplerOf({ sampler, samplerArg = '1' }: TracingSettings): Sampler {
  const share = sampler.endsWith('always_off') ? 0 : sampler.endsWith('ratio') ? Number(samplerArg) : 1;
  return {
    shouldSample(context) {
      const parent = trace.getSpanContext(context);
      const isKept =
        parent === undefined || parent.isRemote === true ? Math.random() < share : (parent.traceFlags & 1) === 1;
      return { decision: isKept ? SamplingDecision.RECORD_AND_SAMPLED : SamplingDecision.NOT_RECORD };
    },
    toString: () => `own(${share})`,
  };
}

/** A collector that is away is told of so often. */
const FAULT_EVERY_MS = 60_000;

/** Bounds the spans on their way to the collector, before the SDK's own queue, which drops silently. */
class QueueBound implements SpanProcessor {
  readonly #next: SpanProcessor;
  readonly #max: number;
  readonly #onDrop: () => void;
  #waiting = 0;

  constructor(next: SpanProcessor, max: number, onDrop: () => void) {
    this.#next = next;
    this.#max = max;
    this.#onDrop = onDrop;
  }

  /** Spans that have ended and were neither sent nor given up. */
  get waiting(): number {
    return this.#waiting;
  }

  settled(spans: number): void {
    this.#waiting -= spans;
  }

  onStart(span: ProcessedSpan, ...rest: unknown[]): void {
    this.#next.onStart(span, rest[0] as Parameters<SpanProcessor['onStart']>[1]);
  }

  onEnd(span: ReadableSpan): void {
    if (this.#waiting >= this.#max) {
      this.#onDrop();
      return;
    }
    this.#waiting++;
    this.#next.onEnd(span);
  }

  forceFlush(): Promise<void> {
    return this.#next.forceFlush();
  }

  shutdown(): Promise<void> {
    return this.#next.shutdown();
  }
}

/** Counts what the exporter makes of each batch. */
class CountedExporter implements SpanExporter {
  readonly #exporter: SpanExporter;
  readonly #listener: TracingListener;
  #toldMs = Number.NEGATIVE_INFINITY;
  onSettled: (spans: number) => void = () => {};

  constructor(exporter: SpanExporter, listener: TracingListener) {
    this.#exporter = exporter;
    this.#listener = listener;
  }

  export(spans: ReadableSpan[], done: (result: ExportResult) => void): void {
    this.#exporter.export(spans, (result) => {
      const isSent = result.code === ExportResultCode.SUCCESS;
      this.onSettled(spans.length);
      this.#listener.exported(isSent ? 'sent' : 'failed', spans.length);
      if (!isSent) this.#fault(result.error);
      done(result);
    });
  }

  async forceFlush(): Promise<void> {
    await this.#exporter.forceFlush?.();
  }

  shutdown(): Promise<void> {
    return this.#exporter.shutdown();
  }

  #fault(error: unknown): void {
    const nowMs = performance.now();
    if (nowMs - this.#toldMs < FAULT_EVERY_MS) return;
    this.#toldMs = nowMs;
    this.#listener.fault(error);
  }
}
