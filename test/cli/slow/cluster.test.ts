// `npm run cluster`: what it shows is so, and it leaves nothing behind, also when it is interrupted.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { natsServerIsHere } from '../../fakes/network/nats-server.ts';
import { temporaryDirectory } from '../../fakes/temporary-directory.ts';

const SCRIPT = fileURLToPath(new URL('../../../scripts/cluster.ts', import.meta.url));
const TIMEOUT_MS = 90_000;

function startCluster(directory: string) {
  const child = spawn(process.execPath, ['--import', 'tsx', SCRIPT, '--fast'], {
    env: { ...process.env, TMPDIR: directory },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const lines: string[] = [];
  createInterface({ input: child.stdout }).on('line', (line) => lines.push(line));
  createInterface({ input: child.stderr }).on('line', (line) => lines.push(line));
  /** Resolves when no process has its output any more. */
  const closed = once(child, 'close').then(([code]) => ({ code: code as number, output: lines.join('\n') }));
  return { child, closed, output: child.stdout };
}

/** What was left there; the loader of TypeScript keeps what it has compiled. */
const leftIn = (directory: string): string[] => readdirSync(directory).filter((name) => name.startsWith('voxgate'));

// The program is not on every machine; under CI it must be.
describe.skipIf(!natsServerIsHere)('the cluster', () => {
  test('survives the death of the node with the connection, with every word once', {
    timeout: TIMEOUT_MS,
  }, async () => {
    const directory = temporaryDirectory();
    const { code, output } = await startCluster(directory).closed;
    expect(output).toMatch(/^ {2}nats .*^ {2}provider .*^ {2}front .*^ {2}left .*^ {2}right /ms);
    expect(output).toMatch(/kill -9 {5}(left|right), .*^ .* final {7}Had he married a .* respectable than he was\.$/ms);
    expect(output).toMatch(/(left took over from right|right took over from left)\.\n*$/);
    expect([code, leftIn(directory)]).toEqual([0, []]);
  });

  test('cleans up when it is interrupted', { timeout: TIMEOUT_MS }, async () => {
    const directory = temporaryDirectory();
    const { child, closed, output } = startCluster(directory);
    output.on('data', (chunk) => {
      if (String(chunk).includes('session')) child.kill('SIGINT');
    });
    const { code, output: said } = await closed;
    expect([code, said, leftIn(directory)]).toEqual([1, expect.stringContaining('ended by SIGINT.'), []]);
  });
});
