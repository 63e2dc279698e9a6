// `GET /v1/models` with `available` and `view`, against the list without them.
import { expect, it } from 'vitest';
import type { Model } from '../../src/api/models.ts';
import { startLiveGateway } from '../fakes/processes/live-gateway.ts';

const live = await startLiveGateway({ DEEPGRAM_API_KEY: 'a-key' });
const listed = async (query = '') => {
  const text = await (await live.request(`/v1/models${query}`)).text();
  return { text, data: (JSON.parse(text) as { data: Model[] }).data };
};
const idsOf = (models: readonly Model[]) => models.map(({ id }) => id);

it('lists the models that can be used, or the others', async () => {
  const all = (await listed()).data;
  const can = (await listed('?available=true')).data;
  const cannot = (await listed('?available=false')).data;
  expect(new Set(can.map(({ owned_by }) => owned_by))).toEqual(new Set(['local', 'deepgram', 'loopback']));
  expect([...idsOf(can), ...idsOf(cannot)].sort()).toEqual(idsOf(all).sort());
  expect(cannot.every(({ available }) => !available)).toBe(true);
});

it('lists each model shortly, with the same values', async () => {
  const [full, short] = [await listed(), await listed('?view=short')];
  expect(idsOf(short.data)).toEqual(idsOf(full.data));
  for (const [at, model] of short.data.entries()) expect(full.data[at]).toMatchObject(model);
  expect(short.data[0]).toMatchObject({
    id: expect.any(String),
    available: true,
    status: 'up',
    modes: expect.any(Array),
  });
  expect(short.data[0]).not.toHaveProperty('provider_params');
  expect(short.text.length).toBeLessThan(full.text.length / 4);
  expect((await listed('?view=full')).text).toBe(full.text);
});

it.each([
  ['?available=yes', '`available` is true or false.'],
  ['?available=', '`available` is true or false.'],
  ['?view=tiny', '`view` is full or short.'],
])('refuses %s with what it takes', async (query, message) => {
  const answer = await live.request(`/v1/models${query}`);
  expect([answer.status, await answer.json()]).toMatchObject([400, { error: { message } }]);
});
