// The command that docs/operations/deploy.md puts into /usr/local/bin: it has the settings of the service, and is the version that is
// asked for. Its text is taken from the guide; places are those of the test.
import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chmodSync, existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { loadKeyRing } from '../../src/accounts/vault/key-ring.ts';
import { EXIT } from '../../src/cli/shared/output.ts';
import { openSqliteStore } from '../../src/node/store/sqlite-store.ts';
import { temporaryDirectory } from '../fakes/temporary-directory.ts';
import { deployFile, substituted } from './proxy-rig.ts';
import { ServedProcess } from './served-process.ts';

const CHECKOUT = join(import.meta.dirname, '../..');
const PRINTS_SETTINGS = 'console.log(JSON.stringify({ args: process.argv.slice(2), env: process.env }))';

const [, written = ''] = /<<'END'\n([\s\S]*?\n)END\n/.exec(deployFile('../docs/operations/deploy.md')) ?? [];

/** The command, with such settings, before a program at `/opt/voxgate`. Undefined settings: there is no file. */
function operator(settings: string | undefined, program = CHECKOUT) {
  const directory = temporaryDirectory();
  chmodSync(directory, 0o755);
  const [file, command, data] = ['environment', 'voxgate', 'data'].map((name) => join(directory, name)) as [
    string,
    string,
    string,
  ];
  if (settings !== undefined) writeFileSync(file, settings, { mode: 0o600 });
  const places = substituted(written, [
    ['/etc/voxgate/environment', file],
    ['/var/lib/voxgate', data],
    ['/opt/voxgate', program],
    ['/usr/bin/node', process.execPath],
  ]);
  writeFileSync(command, places, { mode: 0o755 });
  const run = (args: string[], env: Record<string, string> = {}, as: { uid?: number } = {}) =>
    spawnSync('sh', [command, ...args], { encoding: 'utf8', env: { PATH: process.env.PATH, ...env }, cwd: '/', ...as });
  return { run, data, directory };
}

/** A program that prints what it was given. */
function printer(): string {
  const directory = temporaryDirectory();
  mkdirSync(join(directory, 'bin'));
  writeFileSync(join(directory, 'package.json'), '{"type":"module"}');
  writeFileSync(join(directory, 'bin/voxgate.js'), PRINTS_SETTINGS);
  return directory;
}

describe('the command of operators', () => {
  test('says no to a setting that the service would not start with', () => {
    const { run } = operator('VOXGATE_PORT=a port\n');
    expect(run(['config', 'check'])).toMatchObject({ status: EXIT.config, stderr: expect.stringContaining('a port') });
  });

  test('accepts the settings of the guide, and a missing file', () => {
    for (const settings of [deployFile('environment'), undefined]) {
      expect(operator(settings).run(['config', 'check'])).toMatchObject({ status: 0, stderr: '' });
    }
  });

  test('opens the vault with the key that the service has in a variable', async () => {
    const key = randomBytes(32);
    const { run, data } = operator(`VOXGATE_VAULT_KEY=${key.toString('base64')}\n`);
    const store = await openSqliteStore({ directory: data });
    const { current } = await loadKeyRing({
      store,
      current: key.toString('base64'),
      previous: undefined,
      directory: data,
    });
    await store.close();
    const { stdout, stderr } = run(['vault', 'status', '--json']);
    expect(stderr).toBe('');
    expect(JSON.parse(stdout)).toMatchObject({ current: current.id });
    // The key of the variable was used: no other was made.
    expect(existsSync(join(data, 'vault-key'))).toBe(false);
  });

  test('takes each line as it is, and runs nothing in it', () => {
    const settings = [
      '# A=comment',
      '; B=comment',
      '',
      'PLAIN=a b  ',
      '  INDENTED=1',
      'EMPTY=',
      `DOUBLE="a 'b' # c"`,
      `SINGLE='{"a": 1}'`,
      'EQUALS=YQ==',
      'COMMAND=$(exit 3) `exit 3` $HOME; exit 3',
      'VOXGATE_DATA_DIRECTORY=/elsewhere',
      'LAST=without an end',
    ].join('\n');
    const { run } = operator(settings, printer());
    const { args, env } = JSON.parse(run(['keys', 'list', 'two words']).stdout);
    expect(args).toEqual(['keys', 'list', 'two words']);
    expect(env).toMatchObject({
      PLAIN: 'a b',
      INDENTED: '1',
      EMPTY: '',
      DOUBLE: "a 'b' # c",
      SINGLE: '{"a": 1}',
      EQUALS: 'YQ==',
      COMMAND: '$(exit 3) `exit 3` $HOME; exit 3',
      VOXGATE_DATA_DIRECTORY: '/elsewhere',
      LAST: 'without an end',
    });
    expect([env.A, env.B]).toEqual([undefined, undefined]);
  });

  test('looks after the data of the service', () => {
    const { run, data } = operator('EMPTY=\n', printer());
    expect(JSON.parse(run([]).stdout).env.VOXGATE_DATA_DIRECTORY).toBe(data);
  });

  test('runs another version where one is named, as before an upgrade', () => {
    const { run } = operator('VOXGATE_PORT=a port\n', '/nowhere');
    const { args } = JSON.parse(run(['config', 'check'], { PROGRAM: printer() }).stdout);
    expect(args).toEqual(['config', 'check']);
    expect(deployFile('../docs/operations/upgrade.md')).toMatch(
      /`sudo env PROGRAM=\/opt\/voxgate-\S+ voxgate config check`/,
    );
  });

  // Only root can act as another user.
  test.skipIf(process.getuid?.() !== 0)('does nothing without the settings that it may not read', () => {
    const { run } = operator('EMPTY=\n', printer());
    const { status, stdout, stderr } = run(['keys', 'list'], {}, { uid: ServedProcess.SOMEBODY });
    expect([status, stdout]).toEqual([77, '']);
    expect(stderr).toMatch(/environment/);
  });
});
