// Log lines: their shape, what never appears in them, and what a broken standard output does.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import type { Readable } from 'node:stream';
import { expect, test } from 'vitest';
import { createLogger, openTerminal } from '../../../src/runtime/telemetry/log.ts';

const CANARY = 'canary-7d1f';
const KEY = `sk_vox_${'A'.repeat(38)}`;
const TOKEN = `st_${'a'.repeat(200)}.${'b'.repeat(43)}`;
const source = (name: string) => new URL(`../../../src/runtime/telemetry/${name}.ts`, import.meta.url).href;

function capture() {
  const lines: string[] = [];
  return { lines, logger: createLogger('trace', { write: (line) => void lines.push(line) }) };
}

test('writes a line as one JSON object with level, time, process and message', () => {
  const { lines, logger } = capture();
  logger.warn({ sessionId: 'ses_1', reason: 'two\nlines' }, 'session ended');
  expect(lines).toHaveLength(1);
  expect(lines[0]).toMatch(/^[^\n]+\n$/);
  expect(JSON.parse(lines[0]!)).toEqual({
    level: 'warn',
    time: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
    pid: process.pid,
    sessionId: 'ses_1',
    reason: 'two\nlines',
    msg: 'session ended',
  });
});

test('calls an error by the name that it gives itself, under any name of its class in a bundle', () => {
  class StoreError2 extends Error {
    override readonly name = 'StoreError';
  }
  const { lines, logger } = capture();
  logger.error({ err: new StoreError2('full') }, 'fault');
  logger.error({ err: new AggregateError([new StoreError2('full')]) }, 'fault');
  logger.error({ err: new TypeError('wrong') }, 'fault');
  const logged = lines.map((line) => (JSON.parse(line) as { err: Record<string, unknown> }).err);
  expect(logged).toMatchObject([
    { type: 'StoreError', message: 'full', stack: expect.stringContaining('log.test.ts') },
    { type: 'AggregateError', aggregateErrors: [{ type: 'StoreError', message: 'full' }] },
    { type: 'TypeError' },
  ]);
});

test('writes a readable line on a terminal, with an error below and no secret', () => {
  const lines: string[] = [];
  const logger = createLogger('info', openTerminal({ write: (line) => void lines.push(line) }, false));
  logger.child({ node: 'a' }).warn({ reason: 'two\nlines', apiKey: CANARY }, 'session ended');
  logger.error({ err: new Error(`refused ${KEY}`) }, 'fault');
  expect(lines[0]).toMatch(
    /^\[\d\d:\d\d:\d\d\] WARN: session ended \{"reason":"two\\nlines","apiKey":"\[redacted\]"\}\n$/,
  );
  expect(lines[1]).toMatch(/^\[\d\d:\d\d:\d\d\] ERROR: fault \n[\s\S]*Error: refused \[redacted\]\n/);
  expect(lines).toHaveLength(2);
});

test('lines below the level are not written', () => {
  const lines: string[] = [];
  const logger = createLogger('error', { write: (line) => void lines.push(line) });
  logger.warn('left out');
  logger.error('written');
  expect(lines).toHaveLength(1);
});

test('redacts a secret in any argument', () => {
  const { lines, logger } = capture();
  const failure = Object.assign(new Error(`refused ${KEY}`, { cause: new Error(TOKEN) }), { apiKey: CANARY });
  logger.info({ apiKey: CANARY, credential: CANARY, token: CANARY, secret: CANARY, password: CANARY }, 'flat');
  logger.info({ provider: { apiKey: CANARY, options: { api_key: CANARY } } }, 'nested');
  logger.info({ headers: { authorization: CANARY, cookie: CANARY, 'sec-websocket-protocol': CANARY } }, 'headers');
  logger.info({ pii: { text: CANARY }, turn: { pii: CANARY }, 'pii.text': CANARY }, 'what the customer said');
  logger.error({ err: failure }, 'an error on its way');
  logger.error(failure);
  logger.info({ url: `/v1/listen?api_key=${KEY}`, list: [KEY, TOKEN] }, `GET ${TOKEN}`);
  logger.info(`a client secret: ek_${TOKEN.slice(3)}.${CANARY}`);
  logger.child({ token: CANARY, key: KEY }).info('bound');
  expect(lines).toHaveLength(9);
  for (const line of lines) {
    expect(() => JSON.parse(line)).not.toThrow();
    expect(line).toContain('[redacted]');
    for (const secret of [CANARY, KEY, TOKEN, KEY.slice(7), TOKEN.slice(3)]) expect(line).not.toContain(secret);
  }
});

test('redacts secrets of listed objects and of serialized errors, and leaves the logged objects as they are', () => {
  const { lines, logger } = capture();
  const fields = {
    list: [{ token: CANARY, at: 1 }],
    err: Object.assign(new Error('refused'), { request: { cookie: 'c' } }),
  };
  logger.error(fields, 'fault');
  expect(fields.list[0]?.token).toBe(CANARY);
  expect(JSON.parse(lines[0]!)).toMatchObject({
    list: [{ token: '[redacted]', at: 1 }],
    err: { message: 'refused', request: { cookie: '[redacted]' } },
  });
});

test('names that look a little like credentials stay readable', () => {
  const { lines, logger } = capture();
  logger.info({ keyId: 'key_0190', state: 'st_open', test_st: 1, tokens: 3 }, 'nothing secret');
  expect(JSON.parse(lines[0]!)).toMatchObject({ keyId: 'key_0190', state: 'st_open', test_st: 1, tokens: 3 });
});

/** Runs code that may import `createLogger` and `openStandardOutput`, with its own messages on the IPC channel. */
function run(code: string, stdout: 'pipe' | number): ChildProcess {
  const imports = `import { createLogger } from '${source('log')}'; import { openStandardOutput } from '${source('standard-output')}';`;
  return spawn(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', imports + code], {
    stdio: ['ignore', stdout, 'pipe', 'ipc'],
  });
}

async function textOf(stream: Readable): Promise<string> {
  return (await stream.toArray()).join('');
}

test('lines written just before the exit all arrive', async () => {
  const child = run(
    `const logger = createLogger('info');
     for (let line = 0; line < 500; line++) logger.info({ line }, 'in a hurry');
     process.exit(3);`,
    'pipe',
  );
  const exited = once(child, 'exit');
  const lines = (await textOf(child.stdout!))
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line).line);
  expect(await exited).toEqual([3, null]);
  expect(lines.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 500 }, (_, line) => line));
});

test('survives a closed standard output, without the lines', async () => {
  const child = run(
    `const logger = createLogger('info');
     process.on('message', () => {
       for (let line = 0; line < 100; line++) logger.info({ line }, 'into a closed pipe');
       setImmediate(() => { process.send('alive'); process.disconnect(); });
     });
     process.send('ready');`,
    'pipe',
  );
  const complaints = textOf(child.stderr!);
  await once(child, 'message');
  child.stdout!.destroy();
  await once(child.stdout!, 'close');
  child.send('go');
  const exited = once(child, 'exit');
  expect(await once(child, 'message')).toEqual(['alive', undefined]);
  expect(await exited).toEqual([0, null]);
  expect(await complaints).toBe('');
});

// Only Linux has a device that is always full.
test.skipIf(process.platform !== 'linux')(
  'buffers a mebibyte on a full disk, counts dropped lines, and exits with the process',
  async () => {
    const full = openSync('/dev/full', 'w');
    const child = run(
      `let dropped = 0;
     const logger = createLogger('info', openStandardOutput(() => { dropped += 1; }));
     const filler = 'x'.repeat(1000);
     for (let line = 0; line < 3000; line++) logger.info({ filler }, 'a flood');
     process.send(dropped, () => process.exit(0));`,
      full,
    );
    closeSync(full);
    const exited = once(child, 'exit');
    const [dropped] = await once(child, 'message');
    expect(dropped).toBeGreaterThan(1500);
    expect(dropped).toBeLessThan(2500);
    expect(await exited).toEqual([0, null]);
  },
);
