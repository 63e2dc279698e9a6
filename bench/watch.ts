// `npm run bench -- watch [sessions] [rounds]`: what it costs a node with many sessions that one of them is watched. Times in turn
// with nobody and with somebody who watches, in one run of the same sessions.
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { ensureBuilt } from '../bin/build.js';
import { median } from './median.ts';
import type { Figures, Question } from './process-under-load.ts';

const sessions = Number(process.argv[2] ?? 1_000);
const rounds = Number(process.argv[3] ?? 8);
/** What differs by little is seen in long times only; interims and turns of two seconds come several times in each. */
const ROUND_MS = 6_000;
const WARM_UP_MS = 15_000;
const FRAME_MS = 100;
const tsx = ['--import', 'tsx'];

await ensureBuilt(fileURLToPath(new URL('../', import.meta.url)));
const gateway = fork(new URL('./process-under-load.ts', import.meta.url), {
  execArgv: [...tsx, '--expose-gc'],
  serialization: 'advanced',
});
const [{ url, key }] = (await once(gateway, 'message')) as [{ url: string; key: string }];
const headers = { Authorization: `Bearer ${key}` };

const seconds = Math.ceil((WARM_UP_MS + rounds * 2 * (ROUND_MS + 1_000)) / 1_000) + 10;
const load = startLoad();
await once(load, 'message');
await delay(WARM_UP_MS);
const listed = await fetch(`${url}/v1/sessions?state=live&limit=1`, { headers });
const { data } = (await listed.json()) as { data: { id: string }[] };
const id = data[0]?.id as string;

const unwatched: number[] = [];
const watched: number[] = [];
let frames = 0;
for (let round = 0; round < rounds; round++) {
  unwatched.push(await cpuShare());
  const stop = new AbortController();
  const watching = watch(stop.signal);
  watched.push(await cpuShare());
  stop.abort();
  frames += await watching;
}
load.kill();
await once(load, 'exit');
gateway.send({ ask: 'stop' } satisfies Question);

const nobody = median(unwatched);
console.log(
  JSON.stringify(
    {
      ratios: {
        /** What watching one session adds, as a part of what the node uses with nobody watching. */
        watching_one: round4(median(watched.map((share, at) => share / (unwatched[at] as number))) - 1),
        /** How far times with nobody differ among themselves: what is below it is noise. */
        spread_unwatched: round4((Math.max(...unwatched) - Math.min(...unwatched)) / nobody),
      },
      sessions,
      core_share: { unwatched: unwatched.map(round4), watched: watched.map(round4) },
      frames_per_second: round4((frames / (rounds * ROUND_MS)) * 1_000),
    },
    null,
    2,
  ),
);

function startLoad(): ChildProcess {
  const options = JSON.stringify({ url, key, sessions, seconds, frameMs: FRAME_MS });
  return fork(new URL('./live-load.ts', import.meta.url), [options], {
    execArgv: tsx,
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
}

/** Of one core, over a round. */
async function cpuShare(): Promise<number> {
  gateway.send({ ask: 'reset' } satisfies Question);
  await delay(ROUND_MS);
  gateway.send({ ask: 'figures' } satisfies Question);
  const [{ cpuMs }] = (await once(gateway, 'message')) as [Figures];
  return cpuMs / ROUND_MS;
}

/** Reads the events of the session as the console does; resolves with how many frames came. */
async function watch(signal: AbortSignal): Promise<number> {
  const { body } = await fetch(`${url}/v1/sessions/${id}/events`, { headers, signal });
  let count = 0;
  try {
    for await (const chunk of body ?? []) count += Buffer.from(chunk).toString().split('\ndata:').length - 1;
  } catch (error) {
    if (!signal.aborted) throw error;
  }
  return count;
}

function round4(value: number): number {
  return Math.round(value * 10_000) / 10_000;
}
