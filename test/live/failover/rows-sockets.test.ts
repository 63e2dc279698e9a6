// Hostile providers below the level of frames, over real sockets, on one live protocol of each shape: the process survives,
// the leg fails, and the session goes on with the next candidate.
import { afterAll, expect, it } from 'vitest';
import { systemClock } from '../../../src/runtime/telemetry/clock.ts';
import { SimulatorServer } from '../../../src/vendors/simulation/server.ts';
import { simulators } from '../../../src/vendors/simulators.ts';
import { type RigClient, SessionRig } from '../../fakes/session-rig.ts';
import { temporaryDirectory } from '../../fakes/temporary-directory.ts';
import { expectInOrder } from '../session/support.ts';
import { altered, type Message } from './altered.ts';
import { FULL, PROVIDERS, type Protocol } from './protocols.ts';
import { hearing, RATE, spoken, turnsOf } from './spoken.ts';

/** A message may come in so many. */
const FRAGMENTS_MAX = 64;
const TURNS = turnsOf(['Yes.'], 0.4, 0.4);

const servers: SimulatorServer[] = [];
afterAll(async () => {
  await Promise.all(servers.map((server) => server.close()));
});

/** A session, spoken to at once, whose first provider has the faults, or is reached by `scheme` in place of HTTP. */
async function play(
  { slug, provider, fallback }: Protocol,
  {
    faults = [],
    scheme = 'http',
    onSaid = () => {},
  }: { faults?: string[]; scheme?: string; onSaid?(message: Message): void },
): Promise<RigClient> {
  const heard = altered(provider, (message) => {
    onSaid(message);
    return [message];
  });
  const urls = new Map<string, string>();
  for (const known of simulators) {
    const isFirst = known.provider === provider;
    const simulator = isFirst ? heard : known;
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
  'fails over to the fallback when a provider sends %s',
  async (fault) => {
    const failovers = await Promise.all(
      FULL.map(async (protocol) => (await play(protocol, { faults: [fault] })).of('failover')),
    );
    expect(failovers).toMatchObject(
      FULL.map(({ slug, fallback }) => [{ from: slug, to: fallback, reason: 'upstream_closed' }]),
    );
  },
);

it.concurrent('loses no final when a provider sends its first message byte by byte', async () => {
  const longFirst: string[] = [];
  const clients = FULL.map((protocol) => {
    let first: Message | undefined;
    const onSaid = (message: Message) => {
      if (first === undefined && JSON.stringify(message).length > FRAGMENTS_MAX) longFirst.push(protocol.slug);
      first ??= message;
    };
    return play(protocol, { faults: ['tiny-fragments'], onSaid });
  });
  const failedOver = (await Promise.all(clients)).map((client) => client.of('failover').length > 0);
  const lost = FULL.filter((_, index) => failedOver[index]).map(({ slug }) => slug);
  expect(lost.sort()).toEqual(longFirst.sort());
  expect([lost.length > 0, lost.length < FULL.length]).toEqual([true, true]);
});

it.concurrent('reports a failed TLS handshake as a connect failure, and the fallback gives the final', async () => {
  const [protocol] = FULL as [Protocol];
  expect((await play(protocol, { scheme: 'https' })).of('failover')).toMatchObject([{ reason: 'connect_failed' }]);
});
