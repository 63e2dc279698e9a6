// What is made of the moments of sessions and files: labels that stay bounded, and traces that do.
import { expect, it } from 'vitest';
import { SimulatedClock } from 'xstate';
import { BusError } from '../../../src/cluster/bus/bus.ts';
import { LegUnplaced } from '../../../src/live/session/leg/leg-dialer.ts';
import type { SessionOpening } from '../../../src/live/session/session-opening.ts';
import { ObservedSessions, observeFile } from '../../../src/node/observing/observing.ts';
import { CHILDREN_MAX, FileTrace, SessionTrace } from '../../../src/node/observing/session-trace.ts';
import { createLogger } from '../../../src/runtime/telemetry/log.ts';
import { createMetrics } from '../../../src/runtime/telemetry/metrics.ts';
import type { Attributes, TraceSpan, Tracing } from '../../../src/runtime/telemetry/tracing.ts';
import { providersWith } from '../../../src/vendors/index.ts';

class KeptSpan implements TraceSpan {
  readonly traceId = 'trace';
  readonly spanId = 'span';
  readonly children: KeptSpan[] = [];
  readonly attributes: Record<string, unknown> = {};
  readonly name: string;
  readonly isSampled: boolean;
  error: string | undefined;
  ends = 0;

  constructor(name: string, isSampled: boolean) {
    this.name = name;
    this.isSampled = isSampled;
  }

  child(name: string, { attributes }: { attributes: Attributes }): KeptSpan {
    const child = new KeptSpan(name, this.isSampled);
    child.set(attributes);
    this.children.push(child);
    return child;
  }

  set(attributes: Attributes): void {
    Object.assign(this.attributes, attributes);
  }

  event(): void {}

  end(_: number, error?: string): void {
    this.ends++;
    this.error = error;
  }
}

const opening = {
  sessionId: 'ses_1',
  requestId: 'req_1',
  organisationId: 'org_1',
  request: { model: 'deepgram/nova-3', fallbacks: [] },
} as unknown as SessionOpening;

const summary = {
  reason: 'client_closed',
  code: null,
  seconds: 1,
  turns: 1,
  failovers: 0,
  undeliveredFinals: 0,
} as const;

function traced(isSampled: boolean) {
  const root = new KeptSpan('session', isSampled);
  const drops: string[] = [];
  const tracing: Tracing = { waiting: 0, close: async () => {}, start: () => root };
  const trace = new SessionTrace(opening, { tracing, nowMs: () => 1_000, onDrop: (name) => drops.push(name) });
  const turns = (count: number) => {
    for (let turn = 0; turn < count; turn++)
      trace.turn({
        ...{ turn, model: 'deepgram/nova-3', start: turn, end: turn + 1 },
        ...{ partialMs: undefined, finalMs: undefined, gatewayMs: 1 },
      });
  };
  return { root, drops, trace, turns };
}

it('bounds the spans of a long session, and counts those left out', () => {
  const { root, drops, trace, turns } = traced(true);
  turns(CHILDREN_MAX + 5);
  trace.ended(summary);
  expect(root.children).toHaveLength(CHILDREN_MAX);
  expect(root.attributes['voxgate.spans_left_out']).toBe(5);
  expect(drops).toEqual(Array(5).fill('session_spans'));
  expect([...root.children, root].every(({ ends }) => ends === 1)).toBe(true);
});

it('creates no child spans for a session that is not sampled', () => {
  const { root, drops, trace, turns } = traced(false);
  turns(CHILDREN_MAX + 5);
  trace.ended(summary);
  expect([root.children, drops]).toEqual([[], []]);
});

it('ends the span of a leg that could not be opened, or is still open', () => {
  const { root, trace } = traced(true);
  const leg = { sessionId: 'ses_1', model: 'deepgram/nova-3', generation: 1 };
  trace.leg({ ...leg, event: 'asked', legNode: null });
  trace.leg({ ...leg, event: 'opened', legNode: 'one' });
  trace.leg({ ...leg, event: 'closed', legNode: 'one' });
  trace.leg({ ...leg, event: 'opened', legNode: 'two' });
  trace.ended(summary);
  expect(root.children.map(({ attributes, ends }) => [attributes['voxgate.leg.node'], ends])).toEqual([
    ['one', 1],
    ['two', 1],
  ]);
});

it('logs a node that opens no connections once a minute, for any number of sessions', () => {
  const lines: Record<string, unknown>[] = [];
  const logger = createLogger('info', { write: (line) => void lines.push(JSON.parse(line)) });
  let nowMs = 0;
  const parts = { metrics: createMetrics(), logger, tracing: undefined, providers: providersWith([]) };
  const observed = new ObservedSessions(
    { ...parts, bus: { node: 'edge-1' } } as unknown as ConstructorParameters<typeof ObservedSessions>[0],
    { now: () => nowMs },
  );
  const silent = new BusError('timeout', 'There was no answer within 1000 ms.');
  const full = new LegUnplaced('The node has no room for a leg.');
  for (nowMs = 0; nowMs < 90_000; nowMs += 1_000)
    for (const sessionId of ['ses_1', 'ses_2']) observed.fault(sessionId, 'openLeg', nowMs < 60_000 ? silent : full);
  expect(lines.map(({ level, msg, attempts, reason, err }) => [level, msg, attempts, reason, err])).toEqual([
    ['warn', 'no node opened a connection to a provider', 1, silent.message, undefined],
    ['warn', 'no node opened a connection to a provider', 120, full.message, undefined],
  ]);
});

it('logs every fault of the code with its stack', () => {
  const lines: Record<string, unknown>[] = [];
  const logger = createLogger('info', { write: (line) => void lines.push(JSON.parse(line)) });
  const parts = { metrics: createMetrics(), logger, tracing: undefined, providers: providersWith([]) };
  const observed = new ObservedSessions({ ...parts, bus: { node: 'edge-1' } } as unknown as ConstructorParameters<
    typeof ObservedSessions
  >[0]);
  observed.fault('ses_1', 'openLeg', new TypeError('x is undefined'));
  observed.fault('ses_1', 'openLeg', new BusError('handler_failed', 'The service failed.'));
  expect(lines.map(({ level, msg, err }) => [level, msg, typeof (err as { stack: string }).stack])).toEqual(
    Array(2).fill(['error', 'session fault', 'string']),
  );
});

it('files are counted by the model that answered and the one that was left, and unknown models together', async () => {
  const metrics = createMetrics();
  const clock = new SimulatedClock();
  const file = { requestId: 'req_1', organisationId: 'org_1', traceparent: undefined };
  const observer = observeFile(file, { metrics, clock, tracing: undefined, providers: providersWith([]) });
  observer.asked('deepgram/nova-3');
  observer.failed('deepgram/nova-3', 'connect_failed');
  observer.asked('deepgram/nova-3');
  observer.failed('deepgram/nova-3', 'stalled');
  observer.asked('nobody/knows-this');
  clock.increment(1_500);
  observer.answered('nobody/knows-this');
  observer.ended(undefined);
  const lines = (await metrics.read()).body.split('\n');
  const failovers = lines.filter((line) => line.startsWith('voxgate_failovers_total'));
  expect(failovers).toEqual([
    'voxgate_failovers_total{mode="file",provider="deepgram",model="deepgram/nova-3",reason="stalled"} 1',
  ]);
  expect(lines).toContain('voxgate_file_seconds_sum{model="other"} 1.5');
});

it('a trace has an attribute for each tag of its session or file, and none without tags', () => {
  const tags = '{"customer":"acme","project":"x"}';
  const tagged = { 'voxgate.tag.customer': 'acme', 'voxgate.tag.project': 'x' };
  const span = new KeptSpan('session', true);
  const tracing = {
    start(_: string, { attributes }: { attributes: Attributes }) {
      span.set(attributes);
      return span;
    },
  };
  const options = { tracing: tracing as unknown as Tracing, nowMs: () => 0, onDrop: () => {} };
  new SessionTrace(opening, options);
  expect(Object.keys(span.attributes).filter((name) => name.startsWith('voxgate.tag'))).toEqual([]);
  new SessionTrace({ ...opening, tags }, options);
  expect(span.attributes).toMatchObject(tagged);
  const file = new KeptSpan('file', true);
  const trace = new FileTrace(
    { requestId: 'req_1', organisationId: 'org_1', traceparent: undefined },
    { start: () => file } as unknown as Tracing,
    () => 0,
  );
  trace.tagged(tags);
  expect(file.attributes).toMatchObject(tagged);
});
