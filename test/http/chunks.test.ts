import { PassThrough, Readable } from 'node:stream';
import { expect, it } from 'vitest';
import { chunksOf } from '../../src/http/chunks.ts';

const CHUNKS = ['one', 'two', 'three'].map((text) => Buffer.from(text));

it('gives chunks that wait one by one, without copying them', async () => {
  const stream = new Readable({ read() {} });
  for (const chunk of CHUNKS) stream.push(chunk);
  stream.push(null);
  const given: Buffer[] = [];
  for await (const chunk of chunksOf(stream)) given.push(chunk);
  expect(given.map((chunk, at) => chunk === CHUNKS[at])).toEqual([true, true, true]);
});

it('takes no more from the stream than its reader does', async () => {
  const stream = new PassThrough({ highWaterMark: 1 });
  const chunks = chunksOf(stream);
  stream.write('one');
  stream.write('two');
  stream.write('three');
  expect(String((await chunks.next()).value)).toBe('one');
  await new Promise(setImmediate);
  expect(stream.writableNeedDrain).toBe(true);
  expect(String((await chunks.next()).value)).toBe('two');
  await chunks.return(undefined);
  expect(stream.destroyed).toBe(true);
});

it.each([
  ['has failed before it is read', true],
  ['fails while it is read', false],
])('fails as a stream that %s', async (_, isBefore) => {
  const stream = new Readable({ read() {} });
  stream.on('error', () => {});
  const fail = () => stream.destroy(new Error('gone'));
  if (isBefore) fail();
  const next = chunksOf(stream).next();
  if (!isBefore) fail();
  await expect(next).rejects.toThrow('gone');
});

it('fails where a stream is destroyed before its end', async () => {
  const stream = new Readable({ read() {} });
  const next = chunksOf(stream).next();
  stream.destroy();
  await expect(next).rejects.toThrow('Premature close');
});
