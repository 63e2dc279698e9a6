// Traces as a collector receives them from a running gateway: a session that failed over between two simulated providers, a file, and
// what a collector that is away does to neither.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { systemClock } from '../../../../src/runtime/telemetry/clock.ts';
import { numberedEar } from '../../../../src/vendors/simulation/ears.ts';
import { SimulatorServer } from '../../../../src/vendors/simulation/server.ts';
import { simulators } from '../../../../src/vendors/simulators.ts';
import { numberedAudio } from '../../../fakes/audio/numbered-audio.ts';
import { type ReceivedSpan, TraceCollector, treeOf } from '../../../fakes/network/trace-collector.ts';
import { type LiveGateway, sampleAudio, startLiveGateway } from '../../../fakes/processes/live-gateway.ts';

const KEY = 'canary-4711-credential';
const MODEL = 'deepgram/nova-3';
const FALLBACK = 'assemblyai/universal-streaming-english';
const TRACE = '0af7651916cd43dd8448eb211c80319c';
const PARENT = 'b7ad6b7169203331';

let collector: TraceCollector;
const servers: SimulatorServer[] = [];
const providers: Record<string, string> = {};

beforeAll(async () => {
  collector = await TraceCollector.start();
  for (const [name, faults] of [
    ['deepgram', ['drop-after=1500ms']],
    ['assemblyai', []],
    ['openai', []],
  ] as const) {
    const simulator = simulators.find(({ provider }) => provider === name)!;
    const ear = numberedEar({ turnSeconds: 0.7 });
    const server = await SimulatorServer.start({ simulator, ear, clock: systemClock, faults: [...faults] });
    servers.push(server);
    providers[`VOXGATE_${name.toUpperCase()}_URL`] = server.url;
    providers[`${name.toUpperCase()}_API_KEY`] = KEY;
  }
});

afterAll(async () => {
  for (const server of servers) await server.close();
  await collector.close();
});

const traced = (env: Record<string, string> = {}) =>
  startLiveGateway({
    ...providers,
    VOXGATE_NODE_ID: 'edge-1',
    // Not tried twice.
    VOXGATE_BREAKER_FAILURES_MAX: '1',
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    OTEL_EXPORTER_OTLP_HEADERS: 'x-scope=speech%20team',
    OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=test',
    OTEL_BSP_SCHEDULE_DELAY: '60000',
    ...env,
  });

/** A session whose first provider drops its connection. */
async function failedOver(live: LiveGateway, headers: Record<string, string> = {}) {
  const client = live.connect({ model: MODEL, fallbacks: FALLBACK, sample_rate: '24000' }, { headers });
  await client.event('session_started');
  for (let at = 0; at < 3 * 24_000; at += 4_800) client.send(numberedAudio(at, at + 4_800));
  client.send({ type: 'close' });
  const { code } = await client.close();
  expect(code).toBe(1000);
  return client;
}

async function stopped(live: LiveGateway): Promise<void> {
  live.gateway.stop();
  await live.gateway.ended;
}

const attributeOf = (spans: readonly ReceivedSpan[], name: string, key: string) =>
  spans.filter((span) => span.name === name).map(({ attributes }) => attributes[key]);

it('traces a failed-over session as one tree, linked to its log, without content', async () => {
  const live = await traced();
  const client = await failedOver(live, { traceparent: `00-${TRACE}-${PARENT}-01` });
  const [failover] = client.of('failover');
  // Sent at the latest when the process ends.
  await stopped(live);
  const spans = collector.spans.splice(0);
  const turns = client.finals.map(() => '  turn');
  expect(treeOf(spans)[0]).toBe('session');
  expect(treeOf(spans).slice(1).sort()).toEqual(
    ['  failover', `  transcription ${FALLBACK}`, `  transcription ${MODEL}`, ...turns].sort(),
  );
  const session = spans.find(({ name }) => name === 'session')!;
  expect(session).toMatchObject({
    traceId: TRACE,
    parentSpanId: PARENT,
    kind: 'server',
    status: 'unset',
    attributes: {
      'gen_ai.operation.name': 'transcription',
      'gen_ai.provider.name': 'deepgram',
      'gen_ai.request.model': MODEL,
      'voxgate.session.end_reason': 'client_closed',
      'voxgate.audio_seconds': 3,
      'voxgate.failovers': 1,
      'voxgate.turns': turns.length,
    },
    resource: {
      'service.name': 'voxgate',
      'service.instance.id': 'edge-1',
      'deployment.environment.name': 'test',
    },
  });
  const lost = spans.find(({ name }) => name === `transcription ${MODEL}`)!;
  expect(lost).toMatchObject({
    kind: 'client',
    status: 'error',
    attributes: { 'error.type': failover!.reason, 'gen_ai.provider.name': 'deepgram' },
    events: [{ name: 'ready' }],
  });
  expect(spans.find(({ name }) => name === `transcription ${FALLBACK}`)).toMatchObject({ status: 'unset' });
  expect(attributeOf(spans, 'failover', 'voxgate.failover.to')).toEqual([FALLBACK]);
  expect(attributeOf(spans, 'turn', 'voxgate.turn').sort()).toEqual(turns.map((_, turn) => turn));
  for (const { startMs, endMs, spanId } of spans) {
    expect(endMs).toBeGreaterThanOrEqual(startMs);
    if (spanId === session.spanId) continue;
    expect(startMs).toBeGreaterThanOrEqual(session.startMs);
    expect(endMs).toBeLessThanOrEqual(session.endMs);
  }
  const lines = live.log.filter((line) => line.includes(session.attributes['voxgate.session.id'] as string));
  const ofSession = lines.filter((line) => !line.includes('session settled'));
  expect(ofSession.length).toBeGreaterThan(5);
  for (const line of ofSession) expect(JSON.parse(line)).toMatchObject({ trace_id: TRACE, span_id: session.spanId });
  expect(collector.headers.at(-1)).toMatchObject({
    'content-type': 'application/x-protobuf',
    'x-scope': 'speech team',
  });
  const all = JSON.stringify(spans);
  for (const word of [KEY, live.key, ...client.finals.map(({ text }) => text)]) expect(all).not.toContain(`"${word}"`);
  expect(all).not.toContain(KEY);
});

it('traces a file as a span with one child per model called', async () => {
  const live = await traced();
  const form = new FormData();
  form.set('model', 'openai/whisper-1');
  form.set('file', new Blob([sampleAudio('yes.wav').bytes]), 'sample.wav');
  const headers = { traceparent: `00-${TRACE}-${PARENT}-00` };
  const answer = await live.request('/v1/audio/transcriptions', { method: 'POST', body: form, headers });
  expect(answer.status).toBe(200);
  await stopped(live);
  const spans = collector.spans.splice(0);
  expect(treeOf(spans)).toEqual(['file', '  transcription openai/whisper-1']);
  // Its client does not keep its own trace: that decides nothing here.
  expect(spans.map(({ traceId }) => traceId)).toEqual([TRACE, TRACE]);
});

it('samples by its own configuration, even when clients request more', async () => {
  const live = await traced({ OTEL_TRACES_SAMPLER: 'parentbased_traceidratio', OTEL_TRACES_SAMPLER_ARG: '0' });
  await failedOver(live, { traceparent: `00-00000000000000000000000000000001-${PARENT}-01` });
  await failedOver(live, { traceparent: 'no trace at all' });
  await stopped(live);
  expect(collector.spans).toEqual([]);
});

it.each(['refuse', 'hang'] as const)(
  'keeps sessions unharmed by a collector that would %s, counts lost spans, and exits in time',
  async (mode) => {
    const live = await traced({ OTEL_BSP_MAX_QUEUE_SIZE: '4', OTEL_BSP_SCHEDULE_DELAY: '10' });
    collector.mode = mode;
    collector.headers.length = 0;
    try {
      const client = await failedOver(live);
      await collector.request();
      await failedOver(live);
      expect(client.of('session_ended')).toHaveLength(1);
      const text = await (await live.request('/metrics')).text();
      if (mode === 'hang') {
        expect(text).toMatch(/^voxgate_drops_total\{name="trace_spans",node="edge-1"\} [1-9]/m);
        expect(text).toMatch(/^voxgate_queue_depth\{queue="trace_spans",node="edge-1"\} 4$/m);
      } else {
        expect(text).toMatch(/^voxgate_trace_spans_total\{outcome="failed",node="edge-1"\} [1-9]/m);
        expect(live.log.filter((line) => line.includes('traces not sent'))).toHaveLength(1);
      }
      await stopped(live);
    } finally {
      collector.mode = 'take';
    }
  },
);
