// What one customer's requests provoke at a provider: it is that customer's affair, and no other customer is kept from the model.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openSqliteStore } from '../../../../src/node/store/sqlite-store.ts';
import { systemClock } from '../../../../src/runtime/telemetry/clock.ts';
import { scriptEar } from '../../../../src/vendors/simulation/ears.ts';
import { SimulatorServer } from '../../../../src/vendors/simulation/server.ts';
import { simulators } from '../../../../src/vendors/simulators.ts';
import { type LiveGateway, sampleAudio, startLiveGateway } from '../../../fakes/processes/live-gateway.ts';

const MODEL = 'deepgram/nova-3';
const BY = { type: 'operator', id: 'test' } as const;
const { bytes } = sampleAudio('yes.wav');

let gateway: LiveGateway;
let server: SimulatorServer;
let keys: string[];

beforeAll(async () => {
  const simulator = simulators.find(({ provider }) => provider === 'deepgram');
  if (simulator === undefined) throw new Error('There is no simulator of Deepgram.');
  server = await SimulatorServer.start({
    ...{ simulator, ear: scriptEar(), clock: systemClock, faults: ['refuse=404'] },
  });
  gateway = await startLiveGateway({ VOXGATE_DEEPGRAM_URL: server.url, DEEPGRAM_API_KEY: 'key' });
  const store = await openSqliteStore({ directory: gateway.directory });
  const made = ['Anna', 'Ben', 'Cleo'].map(async (name) => {
    const { id } = await store.createOrganisation(name, null, BY);
    return (await store.createKey(id, {}, BY)).secret;
  });
  keys = await Promise.all(made);
  store.close();
});
afterAll(() => server.close());

const as = (key: string) => ({ Authorization: `Bearer ${key}` });

async function transcribe(key: string): Promise<number> {
  const form = new FormData();
  form.set('model', MODEL);
  form.set('file', new Blob([bytes]), 'yes.wav');
  const answer = await gateway.request('/v1/audio/transcriptions', { method: 'POST', body: form, headers: as(key) });
  await answer.text();
  return answer.status;
}

async function statusFor(key: string): Promise<string> {
  const answer = await gateway.request(`/v1/models/${MODEL}`, { headers: as(key) });
  return ((await answer.json()) as { status: string }).status;
}

it('twelve refusals of one customer’s files, and of its sessions, leave the model up for others', async () => {
  const [anna = '', ben = '', cleo = ''] = keys;
  for (let file = 0; file < 12; file++) expect(await transcribe(anna)).toBe(502);
  const client = gateway.connect({ model: MODEL, sample_rate: '16000' }, { authorize: false, headers: as(anna) });
  await client.close();
  expect([await statusFor(anna), await statusFor(ben), await statusFor(cleo)]).toEqual(['down', 'up', 'up']);
  // The same refusal of another customer's request is no evidence either.
  for (let file = 0; file < 2; file++) await transcribe(ben);
  expect([await statusFor(ben), await statusFor(cleo)]).toEqual(['degraded', 'up']);
});
