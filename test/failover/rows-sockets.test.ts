// Hostile providers below the level of frames, over real sockets, on every live protocol: the process survives, the leg fails,
// and the session goes on with the next candidate.
import { afterAll, expect, it } from 'vitest';
import { simulators } from '../../src/providers/simulators.ts';
import { SimulatorServer } from '../../src/simulator/server.ts';
import { systemClock } from '../../src/telemetry/clock.ts';
import { type RigClient, SessionRig } from '../fakes/session-rig.ts';
import { temporaryDirectory } from '../fakes/temporary-directory.ts';
import { expectInOrder } from '../session/support.ts';
import { PROTOCOLS, PROVIDERS, type Protocol } from './protocols.ts';
import { hearing, RATE, spoken, turnsOf } from './spoken.ts';

const TURNS = turnsOf(['Yes.'], 0.4, 0.4);

const servers: SimulatorServer[] = [];
afterAll(async () => {
  await Promise.all(servers.map((server) => server.close()));
});

/** A session, spoken to at once, whose first provider has the faults, or is reached by `scheme` in place of HTTP. */
async function play({ slug, provider, fallback }: Protocol, faults: string[], scheme = 'http'): Promise<RigClient> {
  const urls = new Map<string, string>();
  for (const simulator of simulators) {
    const isFirst = simulator.provider === provider;
    const server = await SimulatorServer.start({ simulator, ear: hearing(TURNS), faults: isFirst ? faults : [] });
    servers.push(server);
    urls.set(simulator.provider, isFirst ? server.url.replace('http', scheme) : server.url);
  }
  const rig = new SessionRig({
    clock: systemClock,
    providers: [...PROVIDERS],
    spoolDirectory: temporaryDirectory(),
    access: (name) => ({ baseUrl: urls.get(name), credential: 'good-key' }),
  });
  const client = await rig.open({ model: slug, fallbacks: [{ model: fallback }], sampleRate: RATE });
  client.session.audio(spoken(TURNS));
  client.session.control({ type: 'close' });
  await client.ended();
  rig.breakers.close();
  expect(client.finals.map(({ text }) => text).filter((text) => text !== '')).toEqual(['Yes.']);
  expect([client.closeCode, client.of('discontinuity'), rig.faults]).toEqual([1000, [], []]);
  expectInOrder(client);
  expect([rig.sessions.size, rig.upstream.size]).toEqual([0, 0]);
  return client;
}

it.concurrent.each(['deflate-bomb', 'invalid-utf8', 'huge-message'])(
  'a provider that sends %s is cut off, and the fallback gives the final',
  async (fault) => {
    const failovers = await Promise.all(
      PROTOCOLS.map(async (protocol) => (await play(protocol, [fault])).of('failover')),
    );
    expect(failovers).toMatchObject(
      PROTOCOLS.map(({ slug, fallback }) => [{ from: slug, to: fallback, reason: 'upstream_closed' }]),
    );
  },
);

it.concurrent('a provider that sends its first message byte by byte costs no final, whoever gives it', async () => {
  const clients = await Promise.all(PROTOCOLS.map((protocol) => play(protocol, ['tiny-fragments'])));
  // A message may come in 64 fragments: of the first ones, only OpenAI's have more bytes.
  const lost = PROTOCOLS.filter((_, index) => (clients[index]?.of('failover').length ?? 0) > 0);
  expect(lost.map(({ slug }) => slug)).toEqual(['openai/gpt-4o-transcribe', 'openai/gpt-live-transcribe']);
});

it.concurrent('a provider with which no TLS can be spoken is a connect failure, and the fallback gives the final', async () => {
  const [protocol] = PROTOCOLS as [Protocol];
  expect((await play(protocol, [], 'https')).of('failover')).toMatchObject([{ reason: 'connect_failed' }]);
});
