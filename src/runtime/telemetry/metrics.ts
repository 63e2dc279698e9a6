// What the gateway counts, and how Prometheus reads it. Names, labels and their bounds are decided here; when something
// counts is decided where it happens.
import { Counter, collectDefaultMetrics, Gauge, Registry } from 'prom-client';
import { boundedLabel, type DelayMetrics, delayMetrics, type ModelMetrics, modelMetrics } from './model-metrics.ts';

/** Gives the current depth, or the number of sessions by state. Called when the metrics are read; must be cheap. */
type Read<Value> = () => Value;

/** The metrics as Prometheus takes them. */
export interface MetricsText {
  contentType: string;
  body: string;
}

/**
 * Counters and gauges of one process, in a registry of their own. Labels come from closed sets (reasons, codes, route
 * patterns), never from what a client sent; a set that grows past 200 values anyway is cut off with `other`.
 */
export interface Metrics extends DelayMetrics, ModelMetrics {
  /** What runs here; told once. */
  built(build: { version: string; node_version: string; door: string; roles: string }): void;
  sessionOpened(): void;
  sessionEnded(reason: string): void;
  /** Seconds of audio that clients sent. */
  audioReceived(seconds: number): void;
  /** Seconds of audio that went to providers, replays included. */
  audioSent(seconds: number): void;
  /** Something was left out on purpose; `name` is the overflow's. */
  dropped(name: string): void;
  refused(code: string): void;
  /** The gateway redacted something of that class in a final or in a file; `failed`: a text that it could not read. */
  redacted(kind: string): void;
  /** A call to the service that finds names and addresses has ended, or was not made. */
  redactionCall(outcome: string): void;
  /** A handshake had its credential in the URL. */
  queryCredential(): void;
  /** A socket was opened that may not send large messages. */
  smallSocket(): void;
  legEnded(outcome: string): void;
  /** The speech gate decided about the text of a turn, or let it pass. */
  speechGated(outcome: string): void;
  /** A voice detector gave a second opinion on what was loud enough for speech. */
  voiceChecked(purpose: string, outcome: string): void;
  /** An attempt of a session to return to its first model has ended so. */
  primaryReturn(outcome: string): void;
  /** A connection of a fallback on standby was opened, used or lost, or could not be opened. */
  standby(outcome: string): void;
  deadLetter(reason: string): void;
  /** A message on the bus was not believed. */
  messageRefused(reason: string): void;
  /** Spans that were sent to the collector of traces, or could not be. */
  traced(outcome: 'sent' | 'failed', spans: number): void;
  /** A session or file was settled for so many USD. */
  settled(usd: number): void;
  /** A mail was sent, kept, failed or given up. */
  mail(outcome: string): void;
  /** A delivery of a webhook, or a callback of a job, was attempted: delivered, retry, failed or gone. */
  webhookAttempt(outcome: string): void;
  /** A backup of the accounts is good, or failed. */
  backupEnded(outcome: 'good' | 'failed'): void;
  /** No stream of the gateway's account at the provider was left, or none for the organisation. */
  streamsFull(provider: string): void;
  /** A part of a ceiling on spend was used for the first time in its period. */
  spendReached(percent: string): void;
  /** The ledger, or the way to it, failed. */
  ledgerFault(name: string): void;
  /** @param route the route's pattern, never the path */
  httpRequest(route: string, status: number): void;
  /** Shows a queue's depth until the returned function is called. A later queue of the same name takes its place. */
  watchQueue(name: string, depth: Read<number>): () => void;
  /** Shows a figure that is not a queue; read at each scrape. */
  watchGauge(name: string, help: string, read: () => number | Promise<number>): void;
  /** Shows the number of sessions by state. */
  watchSessions(countByState: Read<Readonly<Record<string, number>>>): void;
  /** Live sessions, whatever their state. */
  countSessions(): number;
  /** Everything, together with the process's own figures (event-loop lag, memory, processor). */
  read(): Promise<MetricsText>;
}

/** The gauge of everything that waits; what it gives adds a queue, and what that gives takes it out again. */
function queueDepths(registry: Registry): Metrics['watchQueue'] {
  const queues = new Map<string, Read<number>>();
  new Gauge({
    name: 'voxgate_queue_depth',
    help: 'Size of a queue; the unit is in its name.',
    labelNames: ['queue'],
    registers: [registry],
    collect() {
      this.reset();
      for (const [queue, depth] of queues) this.set({ queue }, depth());
    },
  });
  return (name, depth) => {
    queues.set(name, depth);
    return () => {
      if (queues.get(name) === depth) queues.delete(name);
    };
  };
}

function spanCounter(registry: Registry): Metrics['traced'] {
  const spans = new Counter({
    name: 'voxgate_trace_spans_total',
    help: 'Trace spans by outcome.',
    labelNames: ['outcome'],
    registers: [registry],
  });
  return (outcome, count) => spans.inc({ outcome }, count);
}

function buildGauge(registry: Registry): Metrics['built'] {
  const build = new Gauge({
    name: 'voxgate_build_info',
    help: 'Always 1; the labels are the version, the Node version, the server adapter and the roles.',
    labelNames: ['version', 'node_version', 'door', 'roles'],
    registers: [registry],
  });
  return (labels) => build.set(labels, 1);
}

const REDACTIONS_HELP =
  'Matches that the gateway redacted in finals and files, by class; failed: texts that it could not read and left out.';

const REDACTION_CALLS_HELP =
  'Calls to the service that finds names and addresses: answered, failed, timed_out; busy and resting calls were not made.';

type ByLabel = (name: string, label: string, help: string) => (value: string) => void;

const redactionMetrics = (byLabel: ByLabel): Pick<Metrics, 'redacted' | 'redactionCall'> => ({
  redacted: byLabel('redactions_total', 'class', REDACTIONS_HELP),
  redactionCall: byLabel('redaction_calls_total', 'outcome', REDACTION_CALLS_HELP),
});

const SPEECH_GATED_HELP =
  'Turns of live sessions and segments of files that the speech gate checked, by outcome: spoken, marked, dropped, or the reason why text passed unchecked.';

const PRIMARY_RETURNS_HELP =
  'Attempts of sessions to return to their first model, by outcome: returned; failed; unused: connected, and no turn ended in time.';

const STANDBY_HELP =
  'Connections to fallbacks on standby, by outcome: opened; used for a failover; dropped: lost before; failed: not opened.';

function voiceCheckCounter(registry: Registry): Metrics['voiceChecked'] {
  const checks = new Counter({
    name: 'voxgate_voice_checks_total',
    help: 'Checks of loud audio for a voice, by purpose (stall, turn, utterance) and outcome.',
    labelNames: ['purpose', 'outcome'],
    registers: [registry],
  });
  return (purpose, outcome) => checks.inc({ purpose, outcome });
}

function backupCounter(registry: Registry): Metrics['backupEnded'] {
  const backups = new Counter({
    name: 'voxgate_backups_total',
    help: 'Backups of the accounts by outcome: good, once read back, or failed.',
    labelNames: ['outcome'],
    registers: [registry],
  });
  // A rate needs a value before the first one.
  for (const outcome of ['good', 'failed']) backups.inc({ outcome }, 0);
  return (outcome) => backups.inc({ outcome });
}

function requestCounter(registry: Registry): Metrics['httpRequest'] {
  const requests = new Counter({
    name: 'voxgate_http_requests_total',
    help: 'HTTP requests by route and status.',
    labelNames: ['route', 'status'],
    registers: [registry],
  });
  const bounded = boundedLabel();
  return (route, status) => requests.inc({ route: bounded(route), status });
}

const STREAMS_FULL = 'Live streams that found no free slot of the gateway’s account at the provider, by provider.';
const SPEND_REACHED = 'Spend ceilings that reached 50, 80 or 100 %, as noticed by this node.';

/** @param node how every metric names the node that it is of; none does when absent */
export function createMetrics(node?: string): Metrics {
  const registry = new Registry();
  if (node !== undefined) registry.setDefaultLabels({ node });
  collectDefaultMetrics({ register: registry });

  const counter = (name: string, help: string) => new Counter({ name: `voxgate_${name}`, help, registers: [registry] });
  const byLabel = (name: string, label: string, help: string) => {
    const series = new Counter({ name: `voxgate_${name}`, help, labelNames: [label], registers: [registry] });
    const bounded = boundedLabel();
    return (value: string) => series.inc({ [label]: bounded(value) });
  };

  const opened = counter('sessions_opened_total', 'Live sessions opened.');
  const received = counter('audio_received_seconds_total', 'Seconds of audio received from clients.');
  const sent = counter('audio_sent_seconds_total', 'Seconds of audio sent to providers, including replays.');
  const settlements = counter('settled_total', 'Sessions and files settled by the ledger.');
  const billed = counter('settled_usd_total', 'Cost of settled sessions and files, in USD.');
  const queryCredentials = counter('query_credentials_total', 'Handshakes with a credential in the URL.');
  const smallSockets = counter(
    'small_message_sockets_total',
    'Live sockets limited to messages of 1 MiB because others had the slots for larger ones.',
  );
  let countByState: Read<Readonly<Record<string, number>>> = () => ({});
  new Gauge({
    name: 'voxgate_sessions',
    help: 'Live sessions by state.',
    labelNames: ['state'],
    registers: [registry],
    collect() {
      this.reset();
      for (const [state, count] of Object.entries(countByState())) this.set({ state }, count);
    },
  });

  return {
    built: buildGauge(registry),
    sessionOpened: () => opened.inc(),
    sessionEnded: byLabel('sessions_ended_total', 'reason', 'Live sessions ended, by reason.'),
    audioReceived: (seconds) => received.inc(seconds),
    audioSent: (seconds) => sent.inc(seconds),
    dropped: byLabel('drops_total', 'name', 'Items dropped because a queue was full, by the name of the overflow.'),
    refused: byLabel('refusals_total', 'code', 'Refused requests and sessions, by error code.'),
    ...redactionMetrics(byLabel),
    queryCredential: () => queryCredentials.inc(),
    smallSocket: () => smallSockets.inc(),
    speechGated: byLabel('speech_gate_turns_total', 'outcome', SPEECH_GATED_HELP),
    voiceChecked: voiceCheckCounter(registry),
    primaryReturn: byLabel('primary_returns_total', 'outcome', PRIMARY_RETURNS_HELP),
    standby: byLabel('standby_connections_total', 'outcome', STANDBY_HELP),
    legEnded: byLabel('upstream_legs_total', 'outcome', 'Connections to providers, by how they ended.'),
    settled: (usd) => {
      settlements.inc();
      billed.inc(usd);
    },
    backupEnded: backupCounter(registry),
    mail: byLabel('mails_total', 'outcome', 'Mails by outcome.'),
    webhookAttempt: byLabel('webhook_attempts_total', 'outcome', 'Attempts at webhooks and callbacks, by outcome.'),
    streamsFull: byLabel('streams_full_total', 'provider', STREAMS_FULL),
    spendReached: byLabel('spend_reached_total', 'percent', SPEND_REACHED),
    ledgerFault: byLabel(
      'ledger_faults_total',
      'name',
      'Errors of the ledger or of the connection to it, by what failed.',
    ),
    deadLetter: byLabel('dead_letters_total', 'reason', 'Undelivered messages between actors, by reason.'),
    messageRefused: byLabel('bus_refused_total', 'reason', 'Messages on the bus that were refused, by reason.'),
    httpRequest: requestCounter(registry),
    ...delayMetrics(registry),
    ...modelMetrics(registry),
    countSessions: () => Object.values(countByState()).reduce((sum, count) => sum + count, 0),
    traced: spanCounter(registry),
    watchQueue: queueDepths(registry),
    watchGauge: (name, help, read) => {
      new Gauge({
        name: `voxgate_${name}`,
        help,
        registers: [registry],
        async collect() {
          this.set(await read());
        },
      });
    },
    watchSessions: (read) => {
      countByState = read;
    },
    read: async () => ({ contentType: registry.contentType, body: await registry.metrics() }),
  };
}
