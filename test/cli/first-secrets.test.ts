// Where the first API key and the first owner's link are shown: on a terminal once, or in a file that nobody else reads; never in
// what a service says.
import { once } from 'node:events';
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { firstSecretLines } from '../../src/cli/serve/command.ts';
import { Browser, PASSWORD } from '../accounts/people/console-rig.ts';
import { startLiveGateway } from '../fakes/processes/live-gateway.ts';
import { temporaryDirectory } from '../fakes/temporary-directory.ts';

const KEY = `sk_vox_${'a'.repeat(38)}`;
const LINK = `http://127.0.0.1:8080/join?token=${'b'.repeat(43)}`;
const BOTH = { key: KEY, ownerLink: LINK };

it('appear on a terminal once, and are kept nowhere', () => {
  const directory = temporaryDirectory();
  expect(firstSecretLines(BOTH, directory, true)).toEqual([
    `  Your first API key, shown only this once: ${KEY}`,
    `  To become its owner, open this link; it works once, within 24 hours: ${LINK}`,
  ]);
  expect(() => statSync(join(directory, 'first-key'))).toThrow('ENOENT');
});

it('go to files of their owner without a terminal, over earlier ones', () => {
  const directory = temporaryDirectory();
  const path = join(directory, 'first-key');
  writeFileSync(path, 'old', { mode: 0o644 });
  const linkPath = join(directory, 'first-owner');
  expect(firstSecretLines(BOTH, directory, false)).toEqual([
    `  Your first API key is in ${path}: take it, and delete the file.`,
    `  The link that makes its owner is in ${linkPath}: open it; it works once, within 24 hours.`,
  ]);
  const kept = (file: string) => [readFileSync(file, 'utf8'), statSync(file).mode & 0o777];
  expect([kept(path), kept(linkPath)]).toEqual([
    [`${KEY}\n`, 0o600],
    [`${LINK}\n`, 0o600],
  ]);
});

it('stay hidden also where they cannot be written', () => {
  const [line, ...others] = firstSecretLines(
    { key: KEY, ownerLink: undefined },
    join(temporaryDirectory(), 'absent'),
    false,
  );
  expect([line, others]).toEqual([expect.stringContaining('(ENOENT). Make one: voxgate keys create'), []]);
  expect(line).not.toContain(KEY);
});

it('stay unmentioned once they are in use', () => {
  expect(firstSecretLines({ key: undefined, ownerLink: undefined }, '/nowhere', false)).toEqual([]);
});

it('shows a first key at the next start when a start did not get its port', async () => {
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

it('creates a link for the first owner at each start, and only the last one works', async () => {
  const VOXGATE_DATA_DIRECTORY = temporaryDirectory();
  const first = await startLiveGateway({ VOXGATE_DATA_DIRECTORY });
  const [old, link] = [await first.gateway.inviteFirstOwner(), await first.gateway.inviteFirstOwner()];
  const browser = new Browser(first.gateway.port, [], {});
  const pathOf = (url = '') => url.slice(first.url.length);
  const shown = [await browser.get(pathOf(old)), await browser.get(pathOf(link))];
  expect(shown.map(({ status }) => status)).toEqual([400, 200]);
  const joined = await browser.submit(pathOf(link), { email: 'ada@example.com', password: PASSWORD });
  expect(joined.status).toBe(200);
  expect((await browser.get('/console/api/balance')).status).toBe(200);
  expect(await first.gateway.inviteFirstOwner()).toBeUndefined();
});
