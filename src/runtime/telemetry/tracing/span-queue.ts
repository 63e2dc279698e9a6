// Spans on their way to the collector: how many may wait, and what became of them.
import { type ExportResult, ExportResultCode } from '@opentelemetry/core';
import type { ReadableSpan, Span, SpanExporter, SpanProcessor } from '@opentelemetry/sdk-trace';
import type { TracingListener } from './tracing.ts';

/** A collector that is away is told of so often. */
const FAULT_EVERY_MS = 60_000;

/** In front of the SDK's own queue, which drops without a word. */
export class QueueBound implements SpanProcessor {
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

  onStart(span: Span, ...rest: unknown[]): void {
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
export class CountedExporter implements SpanExporter {
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
