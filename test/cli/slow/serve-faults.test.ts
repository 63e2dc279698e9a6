// What goes wrong in a process beside its sessions: an error that nobody caught, a loop that stands still, memory that runs out,
// a clock that jumps, an output that is gone. Sessions that are there go on; what is short is said to new ones.
import { closeSync, openSync } from 'node:fs';
import { afterAll, describe, expect, it } from 'vitest';
import { expectWhole } from '../../fakes/audio/numbered-finals.ts';
import { Serving } from '../../fakes/processes/serving.ts';
import { voxgate } from '../../fakes/processes/voxgate.ts';

const TURN = 16_000;

const full = process.platform === 'linux' ? openSync('/dev/full', 'w') : undefined;
afterAll(() => full !== undefined && closeSync(full));

/** Connects until it is taken; every refusal on the way is one for want of room. */
async function untilTaken(serving: Serving): Promise<void> {
  for (;;) {
    const client = serving.connect();
    const taken = await Promise.race([
      client.event('session_started').then(() => true),
      client.refused().then(({ body }) => JSON.parse(body).error.code as string),
    ]).finally(() => client.socket.close());
    if (taken === true) return;
    expect(taken).toBe('overloaded');
  }
}

describe('an uncaught error', () => {
  it('drains the process: the sessions that are there lose nothing, and its end says that something was wrong', async () => {
    const meddle = `if (count === 1) void Promise.reject(new Error('at large')); else setImmediate(() => { throw new Error('again'); });`;
    const serving = await Serving.start({ meddle });
    const speaking = await serving.speak(TURN + 8_000);
    await speaking.client.event('transcript', ({ is_final }) => is_final);
    serving.meddle();
    expect((await speaking.client.event('warning')).code).toBe('node_draining');
    serving.meddle();
    speaking.send(8_000);
    expect((await speaking.client.close()).code).toBe(4200);
    expectWhole(speaking.client.finals, 2 * TURN);
    expect(await serving.exited).toEqual([1, null]);
    expect(serving.lines.filter(({ msg }) => msg === 'uncaught fault').map(({ level }) => level)).toContain('fatal');
    expect(serving.errors).not.toMatch(/\n\s+at /);
  });

  it('again and again stops the process', async () => {
    const meddle = 'const again = () => { setImmediate(again); throw new Error("at large"); }; setImmediate(again);';
    const serving = await Serving.start({ meddle });
    const speaking = await serving.speak(8_000);
    serving.meddle();
    expect((await speaking.client.close()).code).toBe(4200);
    expect(await serving.exited).toEqual([1, null]);
  });
});

describe('an event loop that stands still for 3 s', () => {
  it('loses no sample and no session; new clients get a retry, and room soon after', async () => {
    const serving = await Serving.start({
      env: { VOXGATE_LAG_MS_MAX: '200' },
      meddle: `tell('stands still'); const until = performance.now() + 3_000; while (performance.now() < until);`,
    });
    await untilTaken(serving);
    const speaking = await serving.speak(TURN);
    await speaking.heard();
    serving.meddle();
    await serving.logged('stands still');
    speaking.send(TURN);
    const { status, headers, body } = await serving.connect().refused();
    expect([status, JSON.parse(body).error.code, headers['retry-after']]).toEqual([503, 'overloaded', '1']);
    await speaking.heard();
    await untilTaken(serving);
    speaking.send(TURN / 2);
    expect(await speaking.finish()).toBe(1000);
    expectWhole(speaking.client.finals, 2.5 * TURN);
  });
});

describe('memory near its limit', () => {
  /** Claims 92 % of the heap, then 96 %, then half of it. */
  const meddle = `
    const { default: v8 } = await import('node:v8');
    const { syncBuiltinESMExports } = await import('node:module');
    const limit = 1_000_000_000;
    v8.getHeapStatistics = () => ({ used_heap_size: [0.92, 0.96, 0.5][count - 1] * limit, heap_size_limit: limit });
    syncBuiltinESMExports();
    tell('meddled ' + count);
  `.replaceAll('\n', ' ');

  it('refuses new sessions from 90 % on, asks the newest to go elsewhere from 95 % on, and takes them again afterwards', async () => {
    const serving = await Serving.start({ meddle: `void (async () => { ${meddle} })();` });
    const [first, second] = [await serving.speak(TURN), await serving.speak(TURN)];
    serving.meddle();
    const refusal = await refusedFor(serving, 'memory');
    expect(refusal.status).toBe(503);
    first.send(TURN);
    await first.heard();
    serving.meddle();
    expect((await second.client.event('warning')).code).toBe('node_draining');
    serving.meddle();
    await serving.logged('meddled 3');
    expect((await second.client.close()).code).toBe(4200);
    await untilTaken(serving);
    expect([await first.finish(), first.client.of('warning')]).toEqual([1000, []]);
    expectWhole(first.client.finals, 2 * TURN);
    expectWhole(second.client.finals, TURN);
  });
});

/** The first refusal for want of that; sessions that are taken before are closed. */
async function refusedFor(serving: Serving, what: string) {
  for (;;) {
    const client = serving.connect();
    const refusal = await Promise.race([client.refused(), client.event('session_started').then(() => undefined)]);
    client.socket.close();
    if (refusal === undefined) continue;
    expect(JSON.parse(refusal.body).error).toMatchObject({
      code: 'overloaded',
      message: expect.stringContaining(what),
    });
    return refusal;
  }
}

it('keeps sessions and token lifetimes when the clock jumps an hour ahead and two back', async () => {
  const serving = await Serving.start({
    meddle: `
      const RealDate = globalThis.RealDate ??= Date;
      const offset = [3_600_000, -3_600_000][count - 1];
      globalThis.Date = class extends RealDate {
        constructor(...given) { if (given.length === 0) super(RealDate.now() + offset); else super(...given); }
        static now() { return RealDate.now() + offset; }
      };
      tell('jumped ' + count);`.replaceAll('\n', ' '),
  });
  const minted = await serving.request('/v1/tokens', {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ ttl_seconds: 300 }),
  });
  const { token } = (await minted.json()) as { token: string };
  const opens = async () => {
    const client = serving.connect({ api_key: token }, false);
    const outcome = await Promise.race([client.event('session_started'), client.refused(), client.event('error')]);
    client.socket.close();
    return 'type' in outcome && outcome.type === 'session_started';
  };
  expect([minted.status, await opens()]).toEqual([200, true]);
  const speaking = await serving.speak(TURN);
  await speaking.heard();
  for (const [jump, isGood] of [
    ['jumped 1', false],
    ['jumped 2', false],
  ] as const) {
    serving.meddle();
    await serving.logged(jump);
    expect(await opens()).toBe(isGood);
    speaking.send(TURN);
    await speaking.heard();
  }
  expect(await speaking.finish()).toBe(1000);
  expectWhole(speaking.client.finals, 3 * TURN);
  expect(await serving.end('SIGTERM')).toEqual([0, null]);
  const audit = await voxgate(['ledger', 'audit'], { VOXGATE_DATA_DIRECTORY: serving.directory });
  expect(audit.code).toBe(0);
});

describe('an output that is gone', () => {
  it('ends no session on both sides, under a flood of lines, and lets the process exit', async () => {
    const serving = await Serving.start({ env: { VOXGATE_LOG_LEVEL: 'trace' } });
    const speaking = await serving.speak(TURN);
    serving.child.stdout?.destroy();
    serving.child.stderr?.destroy();
    await Promise.all(Array.from({ length: 200 }, () => serving.request('/healthz')));
    speaking.send(TURN);
    await speaking.heard();
    expect(await speaking.finish()).toBe(1000);
    expectWhole(speaking.client.finals, 2 * TURN);
    expect(await serving.end('SIGTERM')).toEqual([0, null]);
  });

  // Only Linux has a device that is always full.
  it.skipIf(full === undefined)('ends no session on a full disk, and the process exits in order', async () => {
    const serving = await Serving.start({ env: { VOXGATE_LOG_LEVEL: 'trace' }, output: full as number });
    const speaking = await serving.speak(TURN);
    await Promise.all(Array.from({ length: 200 }, () => serving.request('/healthz')));
    expect(await speaking.finish()).toBe(1000);
    expectWhole(speaking.client.finals, TURN);
    expect(await serving.end('SIGTERM')).toEqual([0, null]);
  });
});
