import { expect, it } from 'vitest';
import { SpoolBudget, SpoolFile } from '../../../src/http/multipart/spool-file.ts';
import { Quota } from '../../../src/runtime/limits/quota.ts';
import { temporaryDirectory } from '../../fakes/temporary-directory.ts';

const create = () => SpoolFile.create(temporaryDirectory(), new SpoolBudget(new Quota(1_000_000, 1), 'org'));

it('has written a chunk when `write` resolves: its buffer may be used again', async () => {
  const file = await create();
  const chunk = Buffer.alloc(1_000);
  for (let round = 1; round <= 5; round++) {
    await file.write(chunk.fill(round));
    const back = await file.readAt((round - 1) * chunk.length, chunk.length);
    expect(Buffer.from(back).equals(chunk)).toBe(true);
  }
  await file.close();
});

it('writes gathered chunks in their order', async () => {
  const file = await create();
  const chunks = Array.from({ length: 50 }, (_, at) => Buffer.alloc(1_000, at));
  await Promise.all(chunks.map((chunk) => file.gather(chunk)));
  await file.written();
  expect(Buffer.from(await file.readAt(0, 50_000)).equals(Buffer.concat(chunks))).toBe(true);
  await file.close();
});
