// Where the first API key is shown: on a terminal once, or in a file that nobody else reads; never in what a service says.
import { once } from 'node:events';
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { firstKeyLines } from '../../src/cli/serve/first-key.ts';
import { startLiveGateway } from '../fakes/processes/live-gateway.ts';
import { temporaryDirectory } from '../fakes/temporary-directory.ts';

const KEY = `sk_vox_${'a'.repeat(38)}`;

it('is printed on a terminal, once, and kept nowhere', () => {
  const directory = temporaryDirectory();
  expect(firstKeyLines(KEY, directory, true)).toEqual([`  Your first API key, shown only this once: ${KEY}`]);
  expect(() => statSync(join(directory, 'first-key'))).toThrow('ENOENT');
});

it('is written to a file of its owner where nobody looks on, over one that was left there', () => {
  const directory = temporaryDirectory();
  const path = join(directory, 'first-key');
  writeFileSync(path, 'old', { mode: 0o644 });
  expect(firstKeyLines(KEY, directory, false)).toEqual([
    `  Your first API key is in ${path}: take it, and delete the file.`,
  ]);
  expect([readFileSync(path, 'utf8'), statSync(path).mode & 0o777]).toEqual([`${KEY}\n`, 0o600]);
});

it('is not printed either where it cannot be written', () => {
  const [line, ...others] = firstKeyLines(KEY, join(temporaryDirectory(), 'absent'), false);
  expect([line, others]).toEqual([expect.stringContaining('(ENOENT). Make one: voxgate keys create'), []]);
  expect(line).not.toContain(KEY);
});

it('is not spoken of at a later start', () => {
  expect(firstKeyLines(undefined, '/nowhere', false)).toEqual([]);
});

it('is not lost to a start that did not get its port: the next start shows it', async () => {
  const other = createServer().listen(0, '127.0.0.1');
  await once(other, 'listening');
  const VOXGATE_DATA_DIRECTORY = temporaryDirectory();
  const VOXGATE_PORT = String((other.address() as AddressInfo).port);
  await expect(startLiveGateway({ VOXGATE_DATA_DIRECTORY, VOXGATE_PORT })).rejects.toThrow('another program');
  other.close();
  const { key, request } = await startLiveGateway({ VOXGATE_DATA_DIRECTORY });
  expect(key).toMatch(/^sk_vox_/);
  expect((await request('/v1/balance')).status).toBe(200);
});
