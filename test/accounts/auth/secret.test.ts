// The node's secret: made once, kept private, refused with a sentence when it is not.
import { execFile } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { loadSecret, SecretError } from '../../../src/accounts/auth/secret.ts';
import { temporaryDirectory } from '../../fakes/temporary-directory.ts';

const CANARY = 'canary-secret-of-more-than-thirty-two-characters';
const text = (secret: Uint8Array) => Buffer.from(secret).toString();

test('uses a configured secret as it is, and writes nothing', () => {
  const directory = join(temporaryDirectory(), 'data');
  expect(text(loadSecret(CANARY, directory))).toBe(CANARY);
  expect(existsSync(directory)).toBe(false);
});

test('creates a secret for this user alone when there is none, and reuses it', () => {
  const directory = join(temporaryDirectory(), 'new data');
  const secret = text(loadSecret(undefined, directory));
  expect(secret).toMatch(/^[\w-]{43}$/);
  expect(statSync(directory).mode & 0o777).toBe(0o700);
  expect(statSync(join(directory, 'secret')).mode & 0o777).toBe(0o600);
  expect(readdirSync(directory)).toEqual(['secret']);
  expect(text(loadSecret(undefined, directory))).toBe(secret);
  expect(text(loadSecret(undefined, temporaryDirectory()))).not.toBe(secret);
});

test('processes that start at once get the same secret, and leave nothing else behind', async () => {
  const directory = temporaryDirectory();
  const module = new URL('../../../src/accounts/auth/secret.ts', import.meta.url).href;
  const code = `import { loadSecret } from '${module}'; process.stdout.write(loadSecret(undefined, ${JSON.stringify(directory)}));`;
  const run = () => promisify(execFile)(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', code]);
  const secrets = (await Promise.all([run(), run(), run(), run()])).map(({ stdout }) => stdout);
  expect(new Set(secrets).size).toBe(1);
  expect(readdirSync(directory)).toEqual(['secret']);
});

test('reads a handwritten secret without its line break', () => {
  const directory = temporaryDirectory();
  writeFileSync(join(directory, 'secret'), `${CANARY}\r\n`, { mode: 0o600 });
  expect(text(loadSecret(undefined, directory))).toBe(CANARY);
});

describe('an unusable secret, reported in one sentence that hides it', () => {
  const refuse = (directory: string) => {
    try {
      loadSecret(undefined, directory);
    } catch (error) {
      expect(error).toBeInstanceOf(SecretError);
      const { message } = error as SecretError;
      expect(message).toMatch(/^The secret "[^\n]+\.$/);
      expect(message).not.toContain('canary');
      return message;
    }
    throw new Error('It was not refused.');
  };

  // Windows has no such modes.
  test.skipIf(process.platform === 'win32').each([0o644, 0o640, 0o606, 0o620])('rejects a file of mode %o', (mode) => {
    const directory = temporaryDirectory();
    writeFileSync(join(directory, 'secret'), CANARY);
    chmodSync(join(directory, 'secret'), mode);
    expect(refuse(directory)).toContain('run `chmod 600` on it');
    expect(readFileSync(join(directory, 'secret'), 'utf8')).toBe(CANARY);
  });

  test.each(['', '\n', 'canary', 'canary'.repeat(5)])('rejects a file that holds only %j', (content) => {
    const directory = temporaryDirectory();
    writeFileSync(join(directory, 'secret'), content, { mode: 0o600 });
    expect(refuse(directory)).toContain('fewer than 32 characters');
  });

  test('rejects a directory in its place', () => {
    const directory = temporaryDirectory();
    mkdirSync(join(directory, 'secret'), { mode: 0o700 });
    expect(refuse(directory)).toContain('EISDIR');
  });

  test('rejects a data directory that is a file', () => {
    const file = join(temporaryDirectory(), 'data');
    writeFileSync(file, '');
    expect(refuse(file)).toMatch(/ENOTDIR|EEXIST/);
  });
});
