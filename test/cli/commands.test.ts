// The command line as a user meets it: exit codes, words, results.

import { once } from 'node:events';
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { describe, expect, it } from 'vitest';
import type { Model } from '../../src/api/models.ts';
import { shortRows } from '../../src/cli/models.ts';
import { startVoxgate, voxgate, voxgateProcess } from '../fakes/processes/voxgate.ts';
import { temporaryDirectory } from '../fakes/temporary-directory.ts';

describe('voxgate', () => {
  it.each(['-v', '--version', 'version'])('prints its version for %s', async (word) => {
    const { code, output } = await voxgate([word]);
    expect([code, output]).toEqual([0, expect.stringMatching(/^\d+\.\d+\.\d+\n$/)]);
  });

  it.each([[[]], [['help']], [['--help']]])('lists its commands for %j', async (args) => {
    const { code, output } = await voxgate(args);
    expect(code).toBe(0);
    for (const name of ['serve', 'transcribe', 'orgs', 'keys', 'ledger', 'usage', 'models', 'config'])
      expect(output).toContain(name);
  });

  it.each([
    [],
    ...[
      'serve',
      'demo',
      'transcribe',
      'accuracy',
      'orgs',
      'keys',
      'ledger',
      'usage',
      'reconcile',
      'vault',
      'models',
      'nodes',
      'accounts',
      'backup',
      'config',
      'simulate',
    ].map((name) => [name]),
  ])('fits its help into 80 columns: %s', async (...command) => {
    const { code, output } = await voxgate([...command, '--help']);
    expect([code, output.split('\n').filter((line) => line.length > 80)]).toEqual([0, []]);
  });

  it('lists every command in the test of its help', async () => {
    const { output } = await voxgate([]);
    const names = [...output.matchAll(/^ {2}([a-z]+) {2}/gm)].map(([, name]) => name);
    expect(names).toHaveLength(16);
  });

  it('names an unknown command and ends with 64', async () => {
    expect(await voxgateProcess(['servee'])).toMatchObject({
      code: 64,
      output: '',
      errors: expect.stringContaining('"servee"'),
    });
  });

  it.each([
    [['keys']],
    [['keys', 'shred']],
    [['config', 'chekc']],
    [['transcribe']],
    [['transcribe', 'a.wav', 'b.wav']],
    [['transcribe', 'a.wav', '--lvie']],
    [['models', '--yaml']],
    [['transcribe', 'a.wav', '--url', 'http://127.0.0.1:1']],
  ])('shows the usage for %j and ends with 64', async (args) => {
    const { code, errors } = await voxgate(args);
    expect(code).toBe(64);
    expect(errors).not.toMatch(/\n\s+at /);
  });

  it.each<[string, string[], number, RegExp]>([
    [
      'a file',
      ['test/fixtures/audio/yes.wav', '--key', 'k'],
      1,
      /no connection to http:\/\/127\.0\.0\.1:65535: .*ECONNREFUSED/,
    ],
    ['an empty key', ['test/fixtures/audio/yes.wav', '--key', ''], 64, /VOXGATE_KEY/],
  ])('says where no gateway answers: %s', async (_, args, exit, words) => {
    const { code, errors } = await voxgate(['transcribe', ...args, '--url', 'http://127.0.0.1:65535']);
    expect([code, errors]).toEqual([exit, expect.stringMatching(words)]);
  });

  it('ends with 78 and one sentence for a configuration that cannot be used', async () => {
    for (const command of [['serve'], ['config', 'check'], ['keys', 'list']]) {
      const { code, errors } = await voxgate(command, {
        VOXGATE_PORT: '70000',
        VOXGATE_DATA_DIRECTORY: temporaryDirectory(),
      });
      expect([command, code]).toEqual([command, 78]);
      expect(errors).toMatch(/^voxgate: VOXGATE_PORT \(server\.port\) is .*\.\n$/);
    }
  });

  it('prints the configuration without secrets, and its reference', async () => {
    const secret = 'a-secret-of-more-than-32-characters-0123';
    const { output } = await voxgate(['config', 'print'], { VOXGATE_SECRET: secret });
    expect(output).toContain('8080');
    expect(output).not.toContain(secret);
    expect((await voxgate(['config', 'docs'])).output).toContain('`VOXGATE_PORT`');
  });

  it('lists the models with prices, for people and as JSON', async () => {
    expect((await voxgate(['models'])).output).toMatch(/local\/commands-en +batch, live/);
    const { data } = JSON.parse((await voxgate(['models', '--json'])).output) as { data: { id: string }[] };
    expect(data.map(({ id }) => id)).toContain('loopback/script');
  });

  it('lists of the models those that have every word of the filter', async () => {
    const slugs = async (...words: string[]) => {
      const { output } = await voxgate(['models', '--json', ...words.flatMap((word) => ['--filter', word])]);
      return (JSON.parse(output) as { data: { id: string }[] }).data.map(({ id }) => id);
    };
    expect(await slugs('FLUX')).toEqual(['deepgram/flux-general-en', 'deepgram/flux-general-multi']);
    expect(await slugs('local/', 'fr')).toEqual(['local/commands-fr', 'local/align-fr']);
    expect(await slugs('nova-3', 'batch')).toEqual(['deepgram/nova-3']);
    expect(await slugs('available')).not.toContain('deepgram/nova-3');
    const none = await voxgate(['models', '--filter', 'nobody']);
    expect([none.code, none.errors]).toEqual([1, 'voxgate: no model is nobody; voxgate models lists all of them.\n']);
  });

  it.each([80, 100])('fits the models into a terminal of %d characters', async (columns) => {
    const { data } = JSON.parse((await voxgate(['models', '--json'])).output) as { data: Model[] };
    const rows = shortRows(data, columns);
    const widths = rows[0]!.map((_, column) => Math.max(...rows.map((row) => row[column]!.length)));
    expect(widths.reduce((sum, width) => sum + width + 2, -2)).toBeLessThanOrEqual(columns);
    expect(rows).toHaveLength(data.length + 1);
    const amount = expect.stringMatching(/^0\.\d+$/);
    const regions = (text: string) => (columns < 100 ? [] : [text]);
    const many = expect.stringMatching(/^en \+\d+$/);
    expect(rows).toContainEqual(['deepgram/nova-3', many, amount, amount, ...regions('eu,au,in'), 'no']);
    expect(rows).toContainEqual(['local/commands-en', 'en', 'free', 'free', ...regions('self'), 'yes']);
  });
});

describe('voxgate keys', () => {
  it('creates keys, lists them without showing them, and revokes one', async () => {
    const env = { VOXGATE_DATA_DIRECTORY: temporaryDirectory() };
    const secrets = [];
    for (const name of ['one', 'two']) {
      const { code, output } = await voxgate(['keys', 'create', '--init', '--name', name], env);
      expect(code).toBe(0);
      expect(output).toMatch(/^sk_vox_[0-9A-Za-z]{38}\n$/);
      secrets.push(output.trim());
    }
    const { output } = await voxgate(['keys', 'list', '--json'], env);
    for (const secret of secrets) expect(output).not.toContain(secret);
    const [first] = JSON.parse(output) as { id: string }[];
    expect((await voxgate(['keys', 'revoke', (first as { id: string }).id], env)).code).toBe(0);
    expect((await voxgate(['keys', 'list'], env)).output).toMatch(/\d{4}-\d\d-\d\dT\S+Z\n/);
    expect(await voxgate(['keys', 'revoke', 'key_unknown'], env)).toMatchObject({
      code: 1,
      errors: expect.stringContaining('key_unknown'),
    });
  });
});

describe('voxgate serve', () => {
  it('prints its address, and once the first key’s file, and exits with 0 on SIGTERM', async () => {
    const directory = temporaryDirectory();
    const path = join(directory, 'first-key');
    const env = { VOXGATE_PORT: '0', VOXGATE_DATA_DIRECTORY: directory };
    const told = [];
    for (const start of [1, 2]) {
      const child = startVoxgate(['serve'], env);
      let log = '';
      child.stdout.on('data', (text) => {
        log += text;
      });
      const words = await welcome(child.stderr);
      const url = /http:\/\/127\.0\.0\.1:\d+/.exec(words)?.[0] as string;
      expect((await fetch(`${url}/healthz`)).status).toBe(200);
      expect(words).not.toContain('sk_vox_');
      told.push(words.includes(path));
      child.kill('SIGTERM');
      expect([start, ...(await once(child, 'close'))]).toEqual([start, 0, null]);
      expect(log).toContain('"level":"info"');
      expect(log).not.toMatch(/"level":"(?!info)/);
    }
    expect(told).toEqual([true, false]);
    expect(readFileSync(path, 'utf8')).toMatch(/^sk_vox_\w+\n$/);
    expect(statSync(path).mode & 0o777).toBe(0o600);
  });

  it('says in one sentence that its port is taken, and ends', async () => {
    const env = { VOXGATE_PORT: '0', VOXGATE_DATA_DIRECTORY: temporaryDirectory() };
    const child = startVoxgate(['serve'], env);
    child.stdout.resume();
    const port = /:(\d+)\n/.exec(await welcome(child.stderr))?.[1] as string;
    const second = await voxgateProcess(['serve'], {
      VOXGATE_PORT: port,
      VOXGATE_DATA_DIRECTORY: temporaryDirectory(),
    });
    expect(second.code).not.toBe(0);
    expect(second.errors).toMatch(new RegExp(`^voxgate: [^\n]*${port}[^\n]*\\.\n$`));
    child.kill('SIGTERM');
    await once(child, 'close');
  });
});

/** What the command says until it has shown the line to try. */
async function welcome(stream: NodeJS.ReadableStream): Promise<string> {
  let words = '';
  for await (const line of createInterface({ input: stream })) {
    words += `${line}\n`;
    if (line.includes('curl')) break;
  }
  return words;
}
