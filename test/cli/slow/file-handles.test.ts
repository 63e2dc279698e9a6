// A process that has no file handle left: sessions that are there go on, whoever comes is not kept waiting for ever, and it
// recovers by itself when handles are free again.
import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { expect, it } from 'vitest';
import { expectWhole } from '../../fakes/audio/numbered-finals.ts';
import { Serving } from '../../fakes/processes/serving.ts';

/** Handles that are free when the flood begins, and sockets that want one. */
const FREE = 32;
const SOCKETS = 200;
const TURN = 16_000;
const PATIENT_MS = { timeout: 10_000 };
const canLimit = spawnSync('prlimit', ['--version']).status === 0;

/** The system counts the numbers, gaps as well: so many below the limit are free. */
function limitThatLeaves(free: number, taken: ReadonlySet<number>): number {
  let limit = 0;
  for (let left = free; left > 0 || taken.has(limit); limit++) if (!taken.has(limit)) left--;
  return limit;
}

// Limits of a running process are set by a program of Linux.
it.skipIf(!canLimit)('keeps sessions without file handles, and serves new ones when some are free', async () => {
  const serving = await Serving.start();
  const speaking = await serving.speak(TURN);
  await speaking.heard();
  const handles = () => new Set(readdirSync(`/proc/${serving.child.pid}/fd`).map(Number));
  const limit = limitThatLeaves(FREE, handles());
  expect(spawnSync('prlimit', ['--pid', String(serving.child.pid), `--nofile=${limit}:`]).status).toBe(0);
  const port = Number(new URL(serving.url).port);
  const sockets: Socket[] = Array.from({ length: SOCKETS }, () => connect(port, '127.0.0.1').on('error', () => {}));
  // Connected is said by the system: whether the process took it is another matter.
  await Promise.all(sockets.map((socket) => Promise.race([once(socket, 'connect'), once(socket, 'close')])));
  await expect.poll(() => limitThatLeaves(0, handles()), PATIENT_MS).toBe(limit);
  for (let turn = 0; turn < 3; turn++) {
    speaking.send(TURN);
    await speaking.heard();
  }
  for (const socket of sockets) socket.destroy();
  await Promise.all(sockets.map((socket) => socket.closed || once(socket, 'close')));
  // What is closed here is not yet closed there.
  await expect.poll(() => limitThatLeaves(FREE / 2, handles()), PATIENT_MS).toBeLessThan(limit);
  const next = await serving.speak(TURN);
  await next.heard();
  expect(await Promise.all([speaking.finish(), next.finish()])).toEqual([1000, 1000]);
  expectWhole(speaking.client.finals, 4 * TURN);
  expect((await serving.request('/healthz')).status).toBe(200);
  expect(await serving.end('SIGTERM')).toEqual([0, null]);
});
