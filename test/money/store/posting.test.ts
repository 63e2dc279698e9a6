// Calls on their way to the thread: those of one turn of the event loop travel together, and none is harmed by another.
import { expect, test } from 'vitest';
import { OPERATOR, openStore } from '../../fakes/store/data-directory.ts';
import { temporaryDirectory } from '../../fakes/temporary-directory.ts';

test('a call with what cannot be sent is refused alone, and those beside it are answered', async () => {
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

test('what was called before the store is closed is answered, also when it was still on its way', async () => {
  const store = await openStore(temporaryDirectory());
  const { organisation } = (await store.bootstrap())!;
  const calls = Array.from({ length: 10 }, (_, index) =>
    store.createKey(organisation.id, { name: `${index}` }, OPERATOR),
  );
  await store.close();
  expect((await Promise.all(calls)).map(({ key }) => key.name)).toEqual(calls.map((_, index) => `${index}`));
});
