// Legs of a provider whose WebSocket has to be asked for: one request, its answer, and what becomes of the session that was made.
import { expect, test } from 'vitest';
import type { LegReport } from '../../../../machines/events.ts';
import { UpstreamHost } from '../../../../src/live/upstream/upstream-host.ts';
import { failed } from '../../../../src/vendors/kit/heard.ts';
import { objectOf, textIn } from '../../../../src/vendors/kit/json.ts';
import type { LiveCodec } from '../../../../src/vendors/kit/provider.ts';
import type { ProviderSimulator } from '../../../../src/vendors/kit/simulation.ts';
import { liveTiming } from '../../../../src/vendors/kit/timing.ts';
import { scriptEar } from '../../../../src/vendors/simulation/ears.ts';
import { SimulatorStage } from '../../../../src/vendors/simulation/stage.ts';
import { type DialFault, SimulatedNetwork } from '../../../fakes/network/simulated-network.ts';
import { EventClock } from '../../../simulation/event-clock.ts';
import { puppetProvider } from '../../session/puppet.ts';

const TOKEN = 'token-of-a-session';
const CONNECT_MS = 1_000;
const HOUR_MS = 3_600_000;

const codec: Partial<LiveCodec> = {
  open: ({ access }) => ({
    state: {},
    endpoint: {
      kind: 'request',
      request: {
        ...{ method: 'POST', url: `${access.baseUrl}/sessions`, headers: { 'X-Key': String(access.credential) } },
        body: { kind: 'json', json: { rate: 16_000 } },
      },
    },
    hello: [],
  }),
  socketOf: (_, { body }) => ({ kind: 'websocket', url: textIn(objectOf(body).url) ?? '', headers: {} }),
  opened: () => [{ type: 'ready' }],
  read: () => [],
  leave: () => ['stop'],
  closed: (_, code, reason) =>
    failed({ kind: 'retry', reason: 'upstream_closed', code: `close_${code}`, message: reason }),
};

interface World {
  /** Where the answer sends the leg. */
  socket?: string;
  faults?: readonly string[];
  request?: DialFault;
  /** The socket is closed with these words when it hears audio. */
  closes?: string;
}

function world({ socket = `ws://asked.test/socket?token=${TOKEN}`, faults = [], request, closes }: World = {}) {
  const clock = new EventClock();
  const lines: string[] = [];
  const simulator: ProviderSimulator = {
    provider: 'puppet',
    quirks: {},
    upgrade: ({ url }) => ({
      connect: (peer) => {
        lines.push(`connected to ${url.host}${url.pathname}`);
        return {
          text: (text) => lines.push(text),
          bytes: () => (closes === undefined ? undefined : peer.close(4_400, closes)),
          gone: () => lines.push('gone'),
        };
      },
    }),
    http: async ({ method, url, headers, body }) => {
      lines.push([method, url.pathname, headers['x-key'], new TextDecoder().decode(body)].join(' '));
      return { status: 201, body: { url: socket } };
    },
    refusal: (status) => ({ status, body: { error: 'no' } }),
    failure: () => ({ messages: [], close: { code: 1_011, reason: '' } }),
    isFinal: () => false,
  };
  const network = new SimulatedNetwork(request === undefined ? {} : { onRequest: () => request });
  const stage = (given: readonly string[]) => new SimulatorStage({ simulator, ear: scriptEar(), clock, faults: given });
  network.serve('asked.test', stage(faults));
  network.serve('elsewhere.test', stage([]));
  const timing = liveTiming({ speedMax: 1, drainMs: 1_000, stallMs: 10_000, connectMs: CONNECT_MS });
  const provider = puppetProvider({ codec: { ...codec, timing: () => timing } });
  const upstream = new UpstreamHost({
    providers: new Map([['puppet', provider]]),
    engines: {},
    access: () => ({ baseUrl: 'http://asked.test', credential: 'key-of-the-test' }),
    clock,
    openSocket: network.openSocket,
    http: { pools: network.pools(clock), clock },
  });
  const reports: LegReport[] = [];
  const leg = upstream.open(
    'leg.1',
    {
      ...{ type: 'leg.open', session: '', sessionId: 'ses_1', generation: 1, slug: 'puppet/a', sampleRate: 16_000 },
      ...{ language: null, interimResults: false, diarization: false, params: {} },
      ...{ credentialId: 'service', organisationId: 'org_1' },
    },
    (report) => reports.push(report),
  );
  const until = (done: () => boolean) => clock.run(HOUR_MS, done);
  const over = () => until(() => clock.size === 0 && network.links.size === 0);
  const failure = () => reports.flatMap((report) => (report.type === 'leg.failed' ? [report.failure] : []))[0];
  const isReady = () => reports.some(({ type }) => type === 'leg.ready');
  return { clock, lines, network, upstream, leg, until, over, failure, isReady };
}

const ASKED = 'POST /sessions key-of-the-test {"rate":16000}';
const CONNECTED = 'connected to asked.test/socket';

test('requests it once, connects, and stops it when the leg is released', async () => {
  const { lines, leg, until, over, isReady } = world();
  await until(isReady);
  leg.dispose();
  await over();
  expect(lines).toEqual([ASKED, CONNECTED, 'stop', 'gone']);
});

test.each<[string, World, string, number]>([
  ['cannot be reached', { request: 'refuse' }, 'next unreachable', 0],
  ['is never answered', { request: 'hang' }, 'next connect_timeout', CONNECT_MS],
  ['is refused for its key', { faults: ['refuse=401'] }, 'account http_401', 0],
  ['is refused for now', { faults: ['refuse=429'] }, 'next http_429', 0],
  ['is answered with a failure', { faults: ['refuse=503'] }, 'retry http_503', 0],
  ['is answered without a WebSocket', { socket: 'nowhere' }, 'next bad_answer', 0],
  ['names a WebSocket of another host', { socket: 'ws://elsewhere.test/socket' }, 'next bad_answer', 0],
  ['names one with a password', { socket: 'ws://a:b@asked.test/socket' }, 'next bad_answer', 0],
])('fails the leg when a request %s, and connects nowhere', async (_, how, expected, afterMs) => {
  const { clock, lines, until, over, failure } = world(how);
  await until(() => failure() !== undefined);
  const { kind, code } = failure() ?? {};
  expect(`${kind} ${code}`).toBe(expected);
  expect(clock.now()).toBeGreaterThanOrEqual(afterMs);
  expect(clock.now()).toBeLessThan(afterMs + 100);
  await over();
  expect(lines.filter((line) => line.startsWith('connected'))).toEqual([]);
});

test('gives answer and connection one deadline; a late session gets a goodbye', async () => {
  const { clock, lines, until, over, failure } = world({ faults: ['latency=1500ms'] });
  await until(() => failure() !== undefined);
  expect([failure()?.code, clock.now()]).toEqual(['connect_timeout', CONNECT_MS]);
  expect(lines).toEqual([ASKED]);
  await over();
  expect(lines).toEqual([ASKED, CONNECTED, 'stop', 'gone']);
});

test('says goodbye to a session whose leg was released during the request', async () => {
  const { lines, leg, over } = world();
  leg.command({ type: 'leg.close' });
  await over();
  expect(lines).toEqual([ASKED, CONNECTED, 'stop', 'gone']);
});

test('says goodbye to a session with a lost connection on another one', async () => {
  const { lines, network, until, over, isReady, failure } = world();
  await until(isReady);
  for (const link of [...network.links]) link.cut();
  await over();
  expect(failure()?.code).toBe('close_1006');
  expect(lines).toEqual([ASKED, CONNECTED, 'gone', CONNECTED, 'stop', 'gone']);
});

test('gives up a goodbye that cannot be sent', async () => {
  const { clock, network, until, over, isReady, upstream } = world();
  await until(isReady);
  for (const link of [...network.links]) {
    network.options.onDial = () => 'hang';
    link.cut();
  }
  const lostMs = clock.now();
  await over();
  expect(upstream.size).toBe(0);
  expect(clock.now() - lostMs).toBeLessThan(5_100);
});

test('hides the secrets in the provider’s answer', async () => {
  const { leg, until, over, isReady, failure } = world({ closes: `Session ${TOKEN} of key-of-the-test is over.` });
  await until(isReady);
  leg.command({ type: 'leg.audio', sequence: 1 }, new Uint8Array(320));
  await until(() => failure() !== undefined);
  await over();
  expect(failure()?.message).toBe('Session [redacted] of [redacted] is over.');
});
