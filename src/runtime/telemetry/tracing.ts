// Traces, as the rest of the gateway knows them: spans with names, times and attributes, never content.

export type Attributes = Readonly<Record<string, string | number | boolean>>;

export interface SpanStart {
  kind?: 'server' | 'client' | 'internal';
  /** Milliseconds since 1970. */
  atMs: number;
  attributes: Attributes;
}

/** One span. Everything on it is harmless after its end. */
export interface TraceSpan {
  readonly traceId: string;
  readonly spanId: string;
  /** Whether it is kept; of one that is not, nothing leaves the process. */
  readonly isSampled: boolean;
  child(name: string, start: SpanStart): TraceSpan;
  set(attributes: Attributes): void;
  event(name: string, atMs: number, attributes?: Attributes): void;
  /** @param error why it failed: a word of ours, such as `stalled` */
  end(atMs: number, error?: string): void;
}

export interface Tracing {
  /** @param traceparent what a client says its own trace is: it becomes part of that one, and nothing else follows from it */
  start(name: string, start: SpanStart, traceparent: string | undefined): TraceSpan;
  /** Spans that wait to be sent. */
  readonly waiting: number;
  /** Sends what waits, within a bound. */
  close(): Promise<void>;
}

export interface TracingListener {
  /** So many spans were sent, or could not be and are gone. */
  exported(outcome: 'sent' | 'failed', spans: number): void;
  /** The collector takes less than comes: this span is gone. */
  dropped(): void;
  /** What went wrong, once a minute at most. */
  fault(error: unknown): void;
}

/** Those of the standard, as the configuration has them. */
export interface TracingSettings {
  endpoint: string | undefined;
  tracesEndpoint: string | undefined;
  headers: string | undefined;
  timeoutMs: number;
  serviceName: string;
  resourceAttributes: string | undefined;
  sampler: string;
  samplerArg: string | undefined;
  disabled: 'true' | 'false';
  queueMax: number;
  batchMax: number;
  delayMs: number;
}

export interface TracingOptions {
  settings: TracingSettings;
  /** Attributes of the process. */
  resource: Attributes;
  listener: TracingListener;
}
