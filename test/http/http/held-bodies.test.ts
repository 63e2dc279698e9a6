// Bodies that arrive although their server was asked to wait: the memory of all of them together has a bound.
import { expect, it } from 'vitest';
import { HELD_BYTES_OF_ALL_MAX, RequestBody } from '../../../src/http/request-body.ts';

const CHUNK = Buffer.alloc(16 * 1024 * 1024);
const CHUNKS = HELD_BYTES_OF_ALL_MAX / CHUNK.length;

function arriving(): { body: RequestBody; errors: Error[] } {
  const body = new RequestBody({ pause: () => {}, resume: () => {} }, undefined);
  const errors: Error[] = [];
  body.on('error', (error) => errors.push(error));
  return { body, errors };
}

const settled = () => new Promise((resolve) => setImmediate(resolve));

it('refuses a body beyond what all of them may hold with 503, until others were read or given up', async () => {
  const [read, left, late] = [arriving(), arriving(), arriving()];
  for (let sent = 0; sent < CHUNKS / 2; sent++) {
    read.body.arrived(CHUNK);
    left.body.arrived(CHUNK);
  }
  late.body.arrived(Buffer.alloc(1));
  await settled();
  expect([read.errors, left.errors]).toEqual([[], []]);
  expect(late.errors).toMatchObject([{ code: 'overloaded', status: 503 }]);

  read.body.resume();
  left.body.destroy();
  await settled();
  const next = arriving();
  for (let sent = 0; sent < CHUNKS; sent++) next.body.arrived(CHUNK);
  await settled();
  expect(next.errors).toEqual([]);
  next.body.destroy();
});

it('counts nothing of a body that is read as it comes', async () => {
  const { body, errors } = arriving();
  let bytes = 0;
  body.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
  });
  await settled();
  for (let sent = 0; sent <= 2 * CHUNKS; sent++) body.arrived(CHUNK);
  await settled();
  expect([errors, bytes]).toEqual([[], (2 * CHUNKS + 1) * CHUNK.length]);
  body.destroy();
});
