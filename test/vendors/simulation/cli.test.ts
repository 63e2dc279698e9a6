// `voxgate simulate`: what it prints, what it refuses, and that a signal ends it.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { WebSocket } from 'ws';
import { simulateCommand } from '../../../src/cli/simulate.ts';
import { FAULTS } from '../../../src/vendors/simulation/faults.ts';
import { simulators } from '../../../src/vendors/simulators.ts';
import { startVoxgate } from '../../fakes/processes/voxgate.ts';
import { tinyProvider } from './host/tiny-provider.ts';

let printed = '';
let told = '';
let onPrinted = (): void => {};
beforeEach(() => {
  printed = '';
  told = '';
  vi.spyOn(process.stdout, 'write').mockImplementation((text) => {
    printed += text;
    onPrinted();
    return true;
  });
  vi.spyOn(process.stderr, 'write').mockImplementation((text) => {
    told += text;
    return true;
  });
});
afterEach(() => {
  vi.restoreAllMocks();
});

/** Runs the command until the returned `stop`. */
function run(...args: string[]) {
  let stop = (): void => {};
  const stopped = new Promise<void>((resolve) => {
    stop = resolve;
  });
  const code = simulateCommand([tinyProvider], () => stopped).run(args);
  return { stop, code };
}

/** What is said to a client that sends a second of silence and finishes. */
async function hear(url: string): Promise<string[]> {
  const socket = new WebSocket(`${url.replace('http', 'ws')}/listen`, { headers: { authorization: 'Token good' } });
  const said: string[] = [];
  socket.on('message', (data: Buffer) => said.push(data.toString()));
  socket.on('open', () => {
    socket.send(new Uint8Array(32_000));
    socket.send('finish');
  });
  await new Promise((resolve, reject) => socket.on('error', reject).on('close', resolve));
  return said;
}

const urlPrinted = async (): Promise<string> => {
  while (!printed.includes('http')) {
    await new Promise<void>((resolve) => {
      onPrinted = resolve;
    });
  }
  return /http:\S+/.exec(printed)?.[0] as string;
};

describe('voxgate simulate', () => {
  it('prints its address and usage, logs each connection, and exits with 0', async () => {
    const { stop, code } = run('tiny', '--params', '{"turns":[{"text":"as told","seconds":1}]}', '--fault', 'shout');
    const url = await urlPrinted();
    expect(printed).toContain(`VOXGATE_TINY_URL=${url} TINY_API_KEY=simulated`);
    expect((await hear(url)).some((line) => line.includes('"AS TOLD"'))).toBe(true);
    stop();
    expect(await code).toBe(0);
    expect(told).toBe('#1 GET /listen: heard 1.0 s, said 5 messages (finals: 1), closed by the provider with 1000\n');
    await expect(hear(url)).rejects.toThrow('ECONNREFUSED');
  });

  it.each([
    ['local', []],
    ['numbered', ['--ear', 'numbered', '--params', '{"turn_seconds":0.5}']],
    ['script', ['--ear', 'script']],
  ])('transcribes with the ear %s', async (name, args) => {
    const { stop, code } = run('tiny', ...args);
    const said = await hear(await urlPrinted());
    stop();
    expect(await code).toBe(0);
    const finals = said.filter((line) => line.includes('"final"')).length;
    expect([said.at(-1), finals]).toEqual(['{"type":"finished"}', { local: 0, numbered: 2, script: 1 }[name]]);
  });

  it('takes a script from a file', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'voxgate-'));
    const file = join(directory, 'script.json');
    writeFileSync(file, '{"turns":[{"text":"from the file","seconds":1}]}');
    const { stop, code } = run('tiny', '--script', file);
    expect((await hear(await urlPrinted())).join()).toContain('from the file');
    stop();
    await code;
    rmSync(directory, { recursive: true });
  });

  it('lists every fault and the quirks of its provider', async () => {
    expect(await run('tiny', '--list').code).toBe(0);
    for (const name of [...Object.keys(FAULTS), ...Object.keys(tinyProvider.quirks)]) expect(printed).toContain(name);
    expect(printed).toContain('close-after=<audio>[:<code>]');
    expect(printed).toContain('huge-message[=<audio>]');
  });

  it.each<[string[], RegExp]>([
    [[], /name one provider of: tiny\./],
    [['other'], /There is no simulator of "other"\. Name one provider of: tiny\./],
    [['tinny'], /There is no simulator of "tinny"\. Did you mean tiny\? Name one/],
    [['tiny', '--ear', 'script', '--script', '/tmp'], /\/tmp is a folder\. Name a file with JSON\./],
    [['tiny', 'tiny'], /name one provider of: tiny\./],
    [['tiny', '--loud'], /there is no option --loud/],
    [['tiny', '--fault', 'nonsense', '--ear', 'script'], /There is no fault "nonsense"\. Accepted are: refuse, /],
    [['tiny', '--port', '65536'], /--port takes a number from 0 to 65535\./],
    [['tiny', '--ear', 'both'], /--ear takes one of: local, dictation, script, numbered\./],
    [['tiny', '--ear', 'local', '--params', '{}'], /the ear "local" has no script/],
    [['tiny', '--ear', 'dictation', '--params', '{}'], /the ear "dictation" has no script/],
    [['tiny', '--script', 'a', '--params', '{}'], /--params or --script, not both/],
    [['tiny', '--script', '/nowhere/at/all'], /there is no file \/nowhere\/at\/all\./],
    [['tiny', '--params', '{'], /--params is no JSON\./],
    [['tiny', '--params', '{"turns":[]}'], /"turns" of the script cannot be used: give a list of 1 /],
  ])('refuses %j with a sentence', async (args, sentence) => {
    await expect(run(...args).code).rejects.toThrow(sentence);
  });

  it('says in one sentence that its port is taken, and which option takes another', async () => {
    const { stop, code } = run('tiny', '--ear', 'script');
    const { port } = new URL(await urlPrinted());
    await expect(run('tiny', '--ear', 'script', '--port', port).code).rejects.toThrow(
      `Cannot listen on 127.0.0.1:${port}: another program has that port; end it, or set --port to another one.`,
    );
    stop();
    expect(await code).toBe(0);
  });

  it('ends with 0 on SIGINT and SIGTERM', async () => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) {
      const child = startVoxgate(['simulate', simulators[0]?.provider as string, '--ear', 'script']);
      await new Promise((resolve) => child.stdout.once('data', resolve));
      child.kill(signal);
      expect(await new Promise((resolve) => child.once('close', resolve))).toBe(0);
    }
  });
});
