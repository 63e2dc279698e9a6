// `price` as clients send it: live sessions, files and jobs go to the models that it leaves, and refuse other words.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, it } from 'vitest';
import { silentWav } from '../fakes/audio/audio-files.ts';
import { type LiveGateway, startLiveGateway } from '../fakes/processes/live-gateway.ts';
import { temporaryDirectory } from '../fakes/temporary-directory.ts';

const DEAR = 'loopback/script';
const CHEAP = 'loopback/numbered';

let live: LiveGateway;
beforeAll(async () => {
  const file = join(temporaryDirectory(), 'prices.json');
  const price = (amount: string) => ({ unit: 'minute', amount });
  writeFileSync(
    file,
    JSON.stringify({ [DEAR]: { live: price('0.6'), batch: price('0.6') }, [CHEAP]: { live: price('0.06') } }),
  );
  live = await startLiveGateway({ VOXGATE_PRICES_FILE: file });
});

async function chainOf(query: Record<string, string>) {
  const client = live.connect(query);
  const { chain, model } = await client.event('session_started');
  client.send({ type: 'close' });
  await client.close();
  const warnings = client.of('warning').filter(({ code }) => code === 'model_left_out');
  return { model, chain: chain.map((member) => member.model), warnings };
}

it('leaves a dearer fallback out of a live session, and says so', async () => {
  expect(await chainOf({ model: CHEAP, fallbacks: DEAR, price: 'never_dearer' })).toMatchObject({
    chain: [CHEAP],
    warnings: [{ message: expect.stringContaining(`${DEAR} is left out`), param: 'price' }],
  });
  expect(await chainOf({ model: DEAR, fallbacks: CHEAP, price: 'never_dearer' })).toMatchObject({
    chain: [DEAR, CHEAP],
    warnings: [],
  });
});

it('begins a live session with the cheapest model', async () => {
  expect(await chainOf({ model: DEAR, fallbacks: CHEAP, price: 'cheapest' })).toMatchObject({
    model: CHEAP,
    chain: [CHEAP, DEAR],
  });
});

const form = (fields: Record<string, string>): FormData => {
  const data = new FormData();
  for (const [name, value] of Object.entries(fields)) data.append(name, value);
  data.append('file', new Blob([silentWav(1)]), 'a.wav');
  return data;
};

it.each(['/v1/audio/transcriptions', '/v1/jobs'])('is taken by %s, and refused with another word', async (path) => {
  const send = (price: string) => live.request(path, { method: 'POST', body: form({ model: DEAR, price }) });
  expect((await send('cheapest')).ok).toBe(true);
  for (const price of ['dearest', '-1', 'NaN', '<b>']) {
    const response = await send(price);
    expect([response.status, await response.json()]).toMatchObject([
      400,
      { error: { code: 'invalid_request', param: 'price' } },
    ]);
  }
});

it('is refused with another word by a live session', async () => {
  const { status, body } = await live.connect({ model: DEAR, price: 'lowest' }).refused();
  expect([status, JSON.parse(body)]).toMatchObject([
    400,
    { error: { code: 'invalid_request', param: 'price', message: expect.stringContaining('never_dearer, cheapest') } },
  ]);
});
