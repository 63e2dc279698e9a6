// `npm ci` of a fresh clone, as far as it goes without the network: a warning there looks like a failure to who installs for the first time.
// A test package that asks for a newer Node than the gateway does has no `engines` in package-lock.json; the tests show that it runs.
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { temporaryDirectory } from '../../fakes/temporary-directory.ts';

const ROOT = join(import.meta.dirname, '../../..');

it('npm installs without a warning', () => {
  const clone = temporaryDirectory();
  for (const file of ['package.json', 'package-lock.json', '.npmrc', 'clients/typescript/package.json']) {
    mkdirSync(dirname(join(clone, file)), { recursive: true });
    cpSync(join(ROOT, file), join(clone, file));
  }
  const args = ['ci', '--dry-run', '--offline', '--ignore-scripts'];
  const { status, stderr } = spawnSync('npm', args, { cwd: clone, encoding: 'utf8' });
  expect([stderr, status]).toEqual(['', 0]);
});
