// A simulated provider that fails because somebody in the playground wants to see what comes of it: in their own session only,
// and never where no simulator stands in the provider's place.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { demandOf, demandText } from '../../../src/vendors/kit/simulated-wire.ts';
import type { ProviderSimulator } from '../../../src/vendors/kit/simulation.ts';
import { numberedEar } from '../../../src/vendors/simulation/ears.ts';
import { SimulatorServer } from '../../../src/vendors/simulation/server.ts';
import { simulators } from '../../../src/vendors/simulators.ts';
import { numberedAudio } from '../../fakes/audio/numbered-audio.ts';
import { LiveClient, type LiveGateway, startLiveGateway } from '../../fakes/processes/live-gateway.ts';
import { type LivePerson, livePerson } from '../../fakes/processes/live-person.ts';
import { gapsIn } from '../../simulation/whole.ts';

const FIRST = 'deepgram/nova-3';
const SECOND = 'assemblyai/universal-streaming-english';
const RATE = 24_000;

const servers: SimulatorServer[] = [];
let live: LiveGateway;
let ada: LivePerson;
let bob: LivePerson;

beforeAll(async () => {
  const settings: Record<string, string> = {};
  for (const name of ['deepgram', 'assemblyai', 'aws', 'google', 'nvidia']) {
    const simulator = simulators.find(({ provider }) => provider === name) as ProviderSimulator;
    const server = await SimulatorServer.start({ simulator, ear: numberedEar({ turnSeconds: 0.7 }) });
    servers.push(server);
    settings[`VOXGATE_${name.toUpperCase()}_URL`] = server.url;
    settings[`${name.toUpperCase()}_API_KEY`] = 'simulated';
  }
  // One failure would keep everybody from the model.
  live = await startLiveGateway({ ...settings, VOXGATE_BREAKER_FAILURES_MAX: '1', VOXGATE_LOOPBACK: 'on' });
  ada = await livePerson(live, 'ada@example.com', 'correct horse battery staple');
  bob = await livePerson(live, 'bob@example.com', 'correct horse battery staple');
});

afterAll(() => Promise.all(servers.map((server) => server.close())));

/** A session as the playground opens it. */
async function speak(person: LivePerson, model: string, fallbacks = ''): Promise<{ id: string; client: LiveClient }> {
  const { token } = (await (await person.call('POST', 'playground')).json()) as { token: string };
  const query = new URLSearchParams({ model, sample_rate: String(RATE), ...(fallbacks === '' ? {} : { fallbacks }) });
  const client = new LiveClient(`${live.url.replace('http', 'ws')}/v1/listen?${query}`, ['bearer', token], {});
  const { session_id: id } = await client.event('session_started');
  client.send(numberedAudio(0, RATE));
  await client.event('transcript');
  return { id, client };
}

const breakIt = async (person: LivePerson, id: string, fault = 'drop') => {
  const answer = await person.call('POST', `playground/sessions/${id}/break`, { fault });
  return [
    answer.status,
    answer.status === 204 ? undefined : ((await answer.json()) as { error: { code: string } }).error.code,
  ];
};

async function end(client: LiveClient): Promise<void> {
  client.send({ type: 'close' });
  await client.close();
}

describe('a simulated provider broken by its user', () => {
  it.each([
    ['drop', FIRST, 'upstream_closed'],
    ['error', FIRST, 'upstream_error'],
    ['drop', 'aws/transcribe', 'upstream_closed'],
    ['error', 'aws/transcribe', 'upstream_error'],
    // All that a call fails by is its status.
    ...['google/long', 'nvidia/parakeet-ctc-1.1b'].flatMap((model) => [
      ['drop', model, 'upstream_closed'],
      ['error', model, 'upstream_closed'],
    ]),
  ] as [string, string, string][])(
    'fails by %s at %s, and the fallback has every word',
    async (fault, model, reason) => {
      const { id, client } = await speak(ada, model, SECOND);
      const described = (await (await ada.call('GET', `sessions/${id}`)).json()) as { legs: object[] };
      expect(described.legs).toEqual([{ model, state: 'streaming', simulated: true }]);
      expect(await breakIt(ada, id, fault)).toEqual([204, undefined]);
      client.send(numberedAudio(RATE, 2 * RATE));
      expect(await client.event('failover')).toMatchObject({ from: model, to: SECOND, reason });
      client.send(numberedAudio(2 * RATE, 3 * RATE));
      await end(client);
      expect(gapsIn(client.finals, 3 * RATE, RATE, [])).toEqual([]);
    },
  );

  it('fails for that session alone, and later sessions get the model', async () => {
    const broken = await speak(ada, FIRST, SECOND);
    const other = await speak(bob, FIRST, SECOND);
    expect(await breakIt(ada, broken.id)).toEqual([204, undefined]);
    await broken.client.event('failover');
    const next = await speak(bob, FIRST, SECOND);
    for (const { client } of [broken, other, next]) await end(client);
    expect([other, next].map(({ client }) => client.of('failover').length)).toEqual([0, 0]);
  });
});

describe('nothing is broken', () => {
  it('refuses a caller from outside the session’s organisation', async () => {
    const { id, client } = await speak(ada, FIRST, SECOND);
    expect(await breakIt(bob, id)).toEqual([404, 'not_found']);
    expect(await breakIt(ada, 'ses_never')).toEqual([404, 'not_found']);
    const minted = (await (await ada.call('POST', 'keys', { name: 'server' })).json()) as { secret: string };
    const server = live.connect(
      { model: FIRST, sample_rate: String(RATE) },
      { authorize: false, headers: { Authorization: `Bearer ${minted.secret}` } },
    );
    const { session_id } = await server.event('session_started');
    expect(await breakIt(ada, session_id)).toEqual([404, 'not_found']);
    await end(server);
    await end(client);
    expect(client.of('failover')).toEqual([]);
    expect(await breakIt(ada, id)).toEqual([404, 'not_found']);
  });

  it('refuses a session without a simulator', async () => {
    const { id, client } = await speak(ada, 'loopback/numbered');
    expect(await breakIt(ada, id)).toEqual([400, 'invalid_request']);
    await end(client);
    expect(client.of('session_ended')).toMatchObject([{ reason: 'client_closed' }]);
  });

  it('refuses a fault that is not offered', async () => {
    expect(await breakIt(ada, 'ses_never', 'huge-message')).toEqual([400, 'invalid_request']);
  });
});

it('never mistakes a protocol’s text for an injected fault', () => {
  const texts = [
    '{"type":"CloseStream"}',
    '{"voxgate_simulated":"mute"}',
    ` ${demandText('drop')}`,
    `${demandText('drop')} `,
  ];
  expect(texts.map(demandOf)).toEqual([undefined, undefined, undefined, undefined]);
});
