// Receives traces as a collector does: OTLP over HTTP on a real socket, read by what its protobuf definitions say
// of spans. It may refuse, or never answer.
import { EventEmitter, on, once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import protobuf from 'protobufjs';

/** One span, as it came. */
export interface ReceivedSpan {
  traceId: string;
  spanId: string;
  parentSpanId: string;
  name: string;
  kind: string;
  startMs: number;
  endMs: number;
  attributes: Record<string, unknown>;
  events: { name: string; attributes: Record<string, unknown> }[];
  status: string;
  resource: Record<string, unknown>;
}

interface KeyValue {
  key: string;
  value: Record<string, unknown>;
}
interface Wire extends Omit<ReceivedSpan, 'attributes' | 'events' | 'status'> {
  startTimeUnixNano: string;
  endTimeUnixNano: string;
  attributes?: KeyValue[];
  events?: { name: string; attributes?: KeyValue[] }[];
  status?: { code?: string };
}
interface Traces {
  resourceSpans?: { resource: { attributes: KeyValue[] }; scopeSpans: { spans: Wire[] }[] }[];
}

/** Of opentelemetry-proto 1.x, what the tests look at. */
const DEFINITIONS = `
  syntax = "proto3";
  message ExportTraceServiceRequest { repeated ResourceSpans resource_spans = 1; }
  message ResourceSpans { Resource resource = 1; repeated ScopeSpans scope_spans = 2; }
  message Resource { repeated KeyValue attributes = 1; }
  message ScopeSpans { repeated Span spans = 2; }
  message Span {
    bytes trace_id = 1;
    bytes span_id = 2;
    bytes parent_span_id = 4;
    string name = 5;
    Kind kind = 6;
    fixed64 start_time_unix_nano = 7;
    fixed64 end_time_unix_nano = 8;
    repeated KeyValue attributes = 9;
    repeated Event events = 11;
    Status status = 15;
  }
  enum Kind { unspecified = 0; internal = 1; server = 2; client = 3; producer = 4; consumer = 5; }
  message Event { string name = 2; repeated KeyValue attributes = 3; }
  message Status { Code code = 3; }
  enum Code { unset = 0; ok = 1; error = 2; }
  message KeyValue { string key = 1; AnyValue value = 2; }
  message AnyValue {
    oneof value {
      string string_value = 1;
      bool bool_value = 2;
      int64 int_value = 3;
      double double_value = 4;
      ArrayValue array_value = 5;
    }
  }
  message ArrayValue { repeated AnyValue values = 1; }
`;
const Request = protobuf.parse(DEFINITIONS).root.lookupType('ExportTraceServiceRequest');

export class TraceCollector {
  readonly url: string;
  readonly spans: ReceivedSpan[] = [];
  /** Of each request. */
  readonly headers: IncomingHttpHeaders[] = [];
  /** What it does with a request. */
  mode: 'take' | 'refuse' | 'hang' = 'take';
  readonly #events = new EventEmitter();
  readonly #close: () => Promise<void>;

  private constructor(url: string, close: () => Promise<void>) {
    this.url = url;
    this.#close = close;
  }

  static async start(): Promise<TraceCollector> {
    const server = createServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => collector.#take(request.headers, Buffer.concat(chunks), response));
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const collector = new TraceCollector(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    });
    return collector;
  }

  /** Resolves when a request has come, whatever was made of it. */
  async request(): Promise<void> {
    if (this.headers.length === 0) await once(this.#events, 'request');
  }

  /** Resolves with all spans once one of that name has come. */
  async has(name: string): Promise<ReceivedSpan[]> {
    if (this.spans.some((span) => span.name === name)) return this.spans;
    for await (const _ of on(this.#events, 'request')) if (this.spans.some((span) => span.name === name)) break;
    return this.spans;
  }

  close(): Promise<void> {
    return this.#close();
  }

  #take(headers: IncomingHttpHeaders, body: Buffer, response: ServerResponse): void {
    this.headers.push(headers);
    if (this.mode === 'take') {
      this.spans.push(...spansIn(body));
      response.writeHead(200, { 'content-type': 'application/x-protobuf' }).end();
    } else if (this.mode === 'refuse') response.writeHead(400).end();
    this.#events.emit('request');
  }
}

function spansIn(body: Buffer): ReceivedSpan[] {
  const decoded = Request.toObject(Request.decode(body), { longs: String, enums: String }) as Traces;
  return (decoded.resourceSpans ?? []).flatMap(({ resource, scopeSpans }) =>
    scopeSpans.flatMap(({ spans }) => spans.map((span) => spanOf(span, recordOf(resource.attributes)))),
  );
}

const spanOf = (span: Wire, resource: Record<string, unknown>): ReceivedSpan => ({
  traceId: hexOf(span.traceId),
  spanId: hexOf(span.spanId),
  parentSpanId: hexOf(span.parentSpanId),
  name: span.name,
  kind: span.kind,
  startMs: Number(BigInt(span.startTimeUnixNano) / 1_000_000n),
  endMs: Number(BigInt(span.endTimeUnixNano) / 1_000_000n),
  attributes: recordOf(span.attributes),
  events: (span.events ?? []).map(({ name, attributes }) => ({ name, attributes: recordOf(attributes) })),
  status: span.status?.code ?? 'unset',
  resource,
});

const hexOf = (id: unknown): string => Buffer.from((id as Uint8Array | undefined) ?? []).toString('hex');

const recordOf = (attributes: readonly KeyValue[] = []): Record<string, unknown> =>
  Object.fromEntries(
    attributes.map(({ key, value }) => {
      const [kind, plain] = Object.entries(value)[0] ?? [];
      return [key, kind === 'intValue' ? Number(plain) : plain];
    }),
  );

/** Each span indented below its parent, in the order of their beginnings. */
export function treeOf(spans: readonly ReceivedSpan[]): string[] {
  const ids = new Set(spans.map(({ spanId }) => spanId));
  const below = (parent: ReceivedSpan | undefined, indent: string): string[] =>
    spans
      .filter((span) => (parent === undefined ? !ids.has(span.parentSpanId) : span.parentSpanId === parent.spanId))
      .sort((one, other) => one.startMs - other.startMs)
      .flatMap((span) => [`${indent}${span.name}`, ...below(span, `${indent}  `)]);
  return below(undefined, '');
}
