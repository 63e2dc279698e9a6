// The metrics as a scraper reads them: values, bounded labels, gauges that are asked only when somebody reads.
import { expect, test, vi } from 'vitest';
import { createMetrics, type Metrics } from '../../../src/runtime/telemetry/metrics.ts';

async function lines(metrics: Metrics): Promise<string[]> {
  const { body } = await metrics.read();
  return body.split('\n').filter((line) => line.startsWith('voxgate_'));
}

test('everything that is counted is read as it was counted', async () => {
  const metrics = createMetrics();
  metrics.sessionOpened();
  metrics.sessionOpened();
  metrics.sessionEnded('idle');
  metrics.audioReceived(1.5);
  metrics.audioReceived(0.25);
  metrics.audioSent(1);
  metrics.dropped('interims');
  metrics.refused('invalid_api_key');
  metrics.refused('invalid_api_key');
  metrics.redacted('card');
  metrics.redactionCall('answered');
  metrics.legEnded('finished');
  metrics.failedOver('live', 'deepgram/nova-3', 'stalled');
  metrics.dialled('deepgram/nova-3', 0.04);
  metrics.partialHeard('deepgram/nova-3', 0.35);
  metrics.finalTold('deepgram/nova-3', 0.8);
  metrics.passed('to_client', 'near', 'deepgram/nova-3', 0.0015);
  metrics.fileAnswered('openai/whisper-1', 3);
  metrics.queryCredential();
  metrics.smallSocket();
  metrics.primaryReturn('returned');
  metrics.standby('used');
  metrics.deadLetter('unknown_actor');
  metrics.messageRefused('forged');
  metrics.settled(0.25);
  metrics.settled(0.5);
  metrics.mail('sent');
  metrics.webhookAttempt('delivered');
  metrics.streamsFull('deepgram');
  metrics.spendReached('80');
  metrics.ledgerFault('settle');
  metrics.httpRequest('/v1/models/:provider/:model', 200);
  metrics.watchSessions(() => ({ live: 2, draining: 1 }));
  metrics.watchQueue('store_calls', () => 3);
  const all = await lines(metrics);
  expect(all).toEqual(
    expect.arrayContaining([
      'voxgate_dial_seconds_bucket{le="0.05",model="deepgram/nova-3"} 1',
      'voxgate_partial_delay_seconds_bucket{le="0.4",model="deepgram/nova-3"} 1',
      'voxgate_final_delay_seconds_sum{model="deepgram/nova-3"} 0.8',
      'voxgate_gateway_delay_seconds_bucket{le="0.002",direction="to_client",leg="near",model="deepgram/nova-3"} 1',
      'voxgate_file_seconds_count{model="openai/whisper-1"} 1',
    ]),
  );
  expect(all.filter((line) => !/_seconds_(bucket|sum|count)\{/.test(line)).sort()).toEqual(
    [
      'voxgate_audio_received_seconds_total 1.75',
      'voxgate_audio_sent_seconds_total 1',
      'voxgate_backups_total{outcome="failed"} 0',
      'voxgate_backups_total{outcome="good"} 0',
      'voxgate_bus_refused_total{reason="forged"} 1',
      'voxgate_dead_letters_total{reason="unknown_actor"} 1',
      'voxgate_drops_total{name="interims"} 1',
      'voxgate_failovers_total{mode="live",provider="deepgram",model="deepgram/nova-3",reason="stalled"} 1',
      'voxgate_http_requests_total{route="/v1/models/:provider/:model",status="200"} 1',
      'voxgate_ledger_faults_total{name="settle"} 1',
      'voxgate_mails_total{outcome="sent"} 1',
      'voxgate_webhook_attempts_total{outcome="delivered"} 1',
      'voxgate_streams_full_total{provider="deepgram"} 1',
      'voxgate_spend_reached_total{percent="80"} 1',
      'voxgate_query_credentials_total 1',
      'voxgate_small_message_sockets_total 1',
      'voxgate_queue_depth{queue="store_calls"} 3',
      'voxgate_redaction_calls_total{outcome="answered"} 1',
      'voxgate_primary_returns_total{outcome="returned"} 1',
      'voxgate_standby_connections_total{outcome="used"} 1',
      'voxgate_redactions_total{class="card"} 1',
      'voxgate_refusals_total{code="invalid_api_key"} 2',
      'voxgate_sessions_ended_total{reason="idle"} 1',
      'voxgate_sessions_opened_total 2',
      'voxgate_settled_total 2',
      'voxgate_settled_usd_total 0.75',
      'voxgate_sessions{state="draining"} 1',
      'voxgate_sessions{state="live"} 2',
      'voxgate_upstream_legs_total{outcome="finished"} 1',
    ].sort(),
  );
});

test('labels every metric with its node, and one with the build', async () => {
  const metrics = createMetrics('edge-1');
  metrics.built({ version: '1.2.3', node_version: 'v20.0.0', door: 'uws', roles: 'edge,upstream' });
  metrics.sessionOpened();
  metrics.deadLetter('overflow');
  const samples = (await metrics.read()).body.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  expect(samples.filter((line) => !/\{.*node="edge-1"\} /.test(line))).toEqual([]);
  expect(samples).toContain(
    'voxgate_build_info{version="1.2.3",node_version="v20.0.0",door="uws",roles="edge,upstream",node="edge-1"} 1',
  );
});

test('uses Prometheus’ format, and includes the event loop’s lag', async () => {
  const { contentType, body } = await createMetrics().read();
  expect(contentType).toContain('text/plain; version=0.0.4');
  for (const name of [
    'nodejs_eventloop_lag_p50_seconds',
    'nodejs_eventloop_lag_p99_seconds',
    'process_resident_memory_bytes',
  ]) {
    expect(body).toMatch(new RegExp(`^${name} [0-9]`, 'm'));
  }
});

test('reads depths and states on request only, and omits states that are gone', async () => {
  const metrics = createMetrics();
  const depth = vi.fn(() => 7);
  const states = vi.fn<() => Record<string, number>>(() => ({ live: 1 }));
  const unwatch = metrics.watchQueue('spool_bytes', depth);
  metrics.watchSessions(states);
  expect(depth).not.toHaveBeenCalled();
  expect(await lines(metrics)).toContain('voxgate_queue_depth{queue="spool_bytes"} 7');
  expect(depth).toHaveBeenCalledOnce();
  states.mockReturnValue({ closed: 1 });
  unwatch();
  unwatch();
  const later = await lines(metrics);
  expect(later).toContain('voxgate_sessions{state="closed"} 1');
  expect(later.join()).not.toMatch(/live|spool_bytes/);
});

test('limits a label to 200 values, and counts the rest together', async () => {
  const metrics = createMetrics();
  for (let index = 0; index < 1000; index++) {
    metrics.refused(`code_${index}`);
    metrics.httpRequest(`/path/${index}`, 404);
  }
  metrics.refused('code_0');
  const all = await lines(metrics);
  expect(all.filter((line) => line.startsWith('voxgate_refusals_total'))).toHaveLength(201);
  expect(all.filter((line) => line.startsWith('voxgate_http_requests_total'))).toHaveLength(201);
  expect(all).toContain('voxgate_refusals_total{code="other"} 800');
  expect(all).toContain('voxgate_refusals_total{code="code_0"} 2');
});

test('keeps two sets of metrics in one process separate', async () => {
  const [one, two] = [createMetrics(), createMetrics()];
  one.sessionOpened();
  expect(await lines(one)).toContain('voxgate_sessions_opened_total 1');
  expect(await lines(two)).toContain('voxgate_sessions_opened_total 0');
});
