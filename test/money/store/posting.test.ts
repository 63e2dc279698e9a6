// Calls on their way to the thread: those of one turn of the event loop travel together, and none is harmed by another.
import { expect, test } from 'vitest';
import { OPERATOR, openStore } from '../../fakes/store/data-directory.ts';
import { temporaryDirectory } from '../../fakes/temporary-directory.ts';

test('refuses a call with invalid data alone, and answers those sent with it', async () => {
  const store = await openStore(temporaryDirectory());
  const { organisation } = (await store.bootstrap())!;
  const name = (() => {}) as unknown as string;
  const outcomes = await Promise.allSettled([
    store.createKey(organisation.id, { name: 'a' }, OPERATOR),
    store.createKey(organisation.id, { name }, OPERATOR),
    store.createKey(organisation.id, { name: 'b' }, OPERATOR),
  ]);
  expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
  expect((outcomes[1] as PromiseRejectedResult).reason).toMatchObject({ reason: 'invalid' });
  expect((await store.listKeys(organisation.id)).map((key) => key.name)).toEqual(['First key', 'a', 'b']);
  await store.close();
});

test('answers calls made before the store closed, also those on their way', async () => {
  const store = await openStore(temporaryDirectory());
  const { organisation } = (await store.bootstrap())!;
  const calls = Array.from({ length: 10 }, (_, index) =>
    store.createKey(organisation.id, { name: `${index}` }, OPERATOR),
  );
  await store.close();
  expect((await Promise.all(calls)).map(({ key }) => key.name)).toEqual(calls.map((_, index) => `${index}`));
});
