// `npm run bench -- lock [sessions]`: what the audio of live sessions notices when another process holds the database's write
// lock for two seconds. The delay of the event loop in five seconds with the lock and in five without, in one run.
import { type ChildProcess, fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as after } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { ensureBuilt } from '../bin/build.js';
import { median } from './median.ts';
import type { Figures, Question } from './process-under-load.ts';

const sessions = Number(process.argv[2] ?? 200);
const WINDOW_MS = 5_000;
const LOCK_MS = 2_000;
const ROUNDS = 3;
const tsx = ['--import', 'tsx'];

await ensureBuilt(fileURLToPath(new URL('../', import.meta.url)));
const directory = mkdtempSync(join(tmpdir(), 'voxgate-bench-'));
const prices = join(directory, 'prices.json');
writeFileSync(prices, JSON.stringify({ 'loopback/script': { live: { unit: 'minute', amount: '0.006' } } }));
const gateway = fork(new URL('./process-under-load.ts', import.meta.url), {
  execArgv: [...tsx, '--expose-gc'],
  serialization: 'advanced',
  env: { ...process.env, BENCH_PRICES_FILE: prices },
});
const started = await message<{ url: string; key: string; door: string; database: string }>(gateway);
const seconds = ((2 * WINDOW_MS) / 1000) * ROUNDS + 12;
const load = fork(
  new URL('./live-load.ts', import.meta.url),
  [JSON.stringify({ url: started.url, key: started.key, sessions, seconds, frameMs: 20 })],
  { execArgv: tsx, stdio: ['ignore', 'ignore', 'inherit', 'ipc'] },
);
await once(load, 'message');
await after(3_000);
const quiet: number[] = [];
const locked: number[] = [];
for (let round = 0; round < ROUNDS; round++) {
  quiet.push(await window(async () => {}));
  locked.push(await window(holdLock));
}
await once(load, 'exit');
gateway.send({ ask: 'stop' } satisfies Question);
await once(gateway, 'exit');
rmSync(directory, { recursive: true });
const [without, during] = [median(quiet), median(locked)];
console.log(
  JSON.stringify({
    door: started.door,
    sessions,
    lock_ms: LOCK_MS,
    loop_delay_p99_ms: { without, during, all_without: quiet, all_during: locked },
    moved_ms: Math.round((during - without) * 100) / 100,
  }),
);

/** The 99th percentile of the loop's delay in one window in which something happens. */
async function window(happening: () => Promise<void>): Promise<number> {
  gateway.send({ ask: 'reset' } satisfies Question);
  await Promise.all([after(WINDOW_MS), happening()]);
  gateway.send({ ask: 'figures' } satisfies Question);
  const { loopP99Ms } = await message<Figures>(gateway);
  return Math.round(loopP99Ms * 100) / 100;
}

async function holdLock(): Promise<void> {
  const code = `
    const database = new (require('better-sqlite3'))(${JSON.stringify(started.database)});
    database.exec('BEGIN IMMEDIATE');
    setTimeout(() => { database.exec('ROLLBACK'); database.close(); }, ${LOCK_MS});`;
  const child = spawn(process.execPath, ['-e', code], { stdio: 'inherit' });
  const [exitCode] = (await once(child, 'exit')) as [number];
  if (exitCode !== 0) throw new Error('The lock could not be held.');
}

function message<Message>(child: ChildProcess): Promise<Message> {
  return new Promise((resolve) => child.once('message', (value) => resolve(value as Message)));
}
