// Cases of the Python client against a real gateway, in clients/python/tests, run by Debian's Python with Debian's websockets.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, it } from 'vitest';
import { type LiveGateway, startLiveGateway } from '../../fakes/processes/live-gateway.ts';

// Whatever other Python is first on the PATH: Debian's packages are for this one.
const PYTHON = '/usr/bin/python3';
const NEEDED = { python3: PYTHON, 'python3-websockets': '/usr/lib/python3/dist-packages/websockets' };
const missing = Object.entries(NEEDED).flatMap(([name, place]) => (existsSync(place) ? [] : [name]));
if (missing.length > 0 && process.env.CI === 'true') throw new Error(`Install ${missing.join(', ')}.`);

const FOLDER = fileURLToPath(new URL('../../../clients/python', import.meta.url));
const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
/** @param place of the cases, below clients/python/tests; they share one gateway */
export function pythonCases(place: '' | 'slow/'): void {
  const cases = readdirSync(`${FOLDER}/tests/${place}`).flatMap((name) => name.match(/^(test_\w+)\.py$/)?.[1] ?? []);
  // Without these packages nothing of it can be run.
  describe.skipIf(missing.length > 0)(
    `Python client${missing.length > 0 ? `, without ${missing.join(', ')}` : ''}`,
    () => {
      let live: LiveGateway;
      beforeAll(async () => {
        live = await startLiveGateway({
          VOXGATE_REQUESTS_PER_MINUTE_PER_KEY_MAX: '100000',
          // Files by URL are fetched from this machine.
          VOXGATE_WEBHOOK_NETWORKS: '127.0.0.0/8',
        });
      });

      it.concurrent.each(cases)('%s', async (name) => {
        // Warnings of what is not awaited or not closed count as failures; -B: no compiled files are left in the project.
        const child = spawn(
          PYTHON,
          ['-B', '-X', 'dev', '-W', 'error', '-m', 'unittest', '-v', `tests.${place.replace('/', '.')}${name}`],
          {
            cwd: FOLDER,
            env: {
              PATH: process.env.PATH,
              PYTHONPATH: 'src',
              VOXGATE_TEST_URL: live.url,
              VOXGATE_TEST_KEY: live.key,
              VOXGATE_TEST_ROOT: ROOT,
            },
            stdio: ['ignore', 'ignore', 'pipe'],
          },
        );
        const [output, [code]] = await Promise.all([text(child.stderr), once(child, 'exit')]);
        expect(code, output).toBe(0);
        // What Python only mentions.
        expect(output).not.toMatch(/never (?:retrieved|awaited)|Exception ignored/);
        expect(output).toMatch(/Ran [1-9]\d* tests?/);
      });
    },
  );
}
