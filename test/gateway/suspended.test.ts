// An organisation that is suspended, by another process on the same file: nothing of it goes on, and it goes on when it may.
import { expect, it } from 'vitest';
import { openSqliteStore } from '../../src/node/store/sqlite-store.ts';
import { startLiveGateway } from '../fakes/processes/live-gateway.ts';

const BY = { type: 'operator', id: 'test' } as const;

it('ends its sessions and refuses its keys at once, until it is reinstated', async () => {
  const live = await startLiveGateway();
  const store = await openSqliteStore({ directory: live.directory });
  const [organisation] = await store.listOrganisations();
  const { id } = organisation!;
  const session = live.connect({ model: 'loopback/script' });
  await session.event('session_started');
  const models = async () => {
    const response = await live.request('/v1/models');
    return response.ok ? 200 : ((await response.json()) as { error: { code: string } }).error.code;
  };
  expect(await models()).toBe(200);

  await store.setSuspended(id, true, BY);
  expect(await session.close()).toEqual({ code: 4003, reason: 'account_suspended' });
  expect(session.of('error').at(-1)?.error.code).toBe('account_suspended');
  expect(await models()).toBe('account_suspended');
  expect((await live.connect({ model: 'loopback/script' }).refused()).status).toBe(403);

  await store.setSuspended(id, false, BY);
  // The gateway hears of it by the file.
  let answer = await models();
  for (let tries = 0; answer !== 200 && tries < 2_000; tries++) answer = await models();
  expect(answer).toBe(200);
  await store.close();
});
