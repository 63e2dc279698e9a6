// docs/operations/three-machines.md: every command of it, in order, in a clean directory. Ports are those of the test.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { freePorts } from '../../fakes/free-ports.ts';
import { currentNats } from '../../fakes/network/nats-cluster.ts';
import { expectReading } from '../../fakes/reading.ts';
import { temporaryDirectory } from '../../fakes/temporary-directory.ts';
import { pages, ROOT } from '../pages.ts';

const PORTS = [8080, 8081, 8082, 8083, 8085, 4222, 4223, 4224, 6222, 6223, 6224];
const WALK_MS = 120_000;
/** What is in a checkout, as far as the page needs it. */
const CHECKOUT = ['bin', 'deploy', 'dist', 'node_modules', 'package.json', 'src', 'machines', 'docs', 'test'];

const { text } = pages.find(({ path }) => path === 'docs/operations/three-machines.md')!;
/** The commands of a section of the page, one block after the other. */
const commandsIn = (title: string): string[] =>
  [...(text.split(/^## /m).find((part) => part.startsWith(title)) ?? '').matchAll(/^```sh\n([\s\S]*?)^```$/gm)].map(
    ([, commands = '']) => commands,
  );

function endGroup(pid: number | undefined): void {
  try {
    process.kill(-(pid as number), 'SIGKILL');
  } catch {
    // It has ended.
  }
}

function checkout(): string {
  const directory = temporaryDirectory();
  for (const name of CHECKOUT) symlinkSync(join(ROOT, name), join(directory, name));
  return directory;
}

// Debian's nats-server is too old; under CI a missing one fails.
describe.skipIf(!currentNats.isHere)('From one process to three machines', () => {
  test(
    'shows on one machine that any process may be lost',
    async () => {
      const [install, ...blocks] = commandsIn('On one machine');
      expect(install).toBe('npm ci\n');
      const ports = await freePorts(PORTS.length);
      const script = PORTS.reduce(
        (commands, port, index) => commands.replaceAll(`${port}`, `${ports[index]}`),
        blocks.map((block, index) => `printf '\\n== ${index}\\n'\n${block}`).join('\n'),
      );
      const programs = join(temporaryDirectory(), 'bin');
      mkdirSync(programs);
      symlinkSync(currentNats.path, join(programs, 'nats-server'));
      const inherited = Object.entries(process.env).filter(([name]) => !name.startsWith('VOXGATE_'));
      const shell = spawn('bash', ['-e', '-c', script], {
        cwd: checkout(),
        env: { ...Object.fromEntries(inherited), PATH: `${programs}:${dirname(process.execPath)}:${process.env.PATH}` },
        stdio: ['ignore', 'pipe', 'pipe'],
        detached: true,
      });
      // What it started is in its group, also when it was cut off.
      onTestFinished(() => void endGroup(shell.pid));
      let output = '';
      for (const stream of [shell.stdout, shell.stderr]) {
        stream.on('data', (chunk) => {
          output += chunk;
        });
      }
      const [code] = await once(shell, 'close');
      expect(code, output).toBe(0);
      const printed = output.split(/^== \d+$/m).slice(1);
      const [one = '', , , three = '', edges = '', lost = '', back = ''] = printed;
      for (const each of [one, edges, lost]) expectReading(/"text":"([^"]*)"/.exec(each)?.[1] ?? '');
      expect(three).toMatch(/^accounts-1 .*owner/m);
      expect(three).toMatch(/^accounts-3 .*standby/m);
      for (const node of ['accounts-1', 'accounts-2', 'accounts-3', 'edge-1', 'edge-2'])
        expect(edges).toMatch(new RegExp(`^${node} .* serving `, 'm'));
      expect(lost).toMatch(/^accounts-[23] .*owner/m);
      expect(lost).toContain('{"status":"ready","new_paid_sessions":true}');
      expect(back.match(/its ledger agrees\.$/gm)).toHaveLength(3);
      // All of them have ended.
      expect(() => process.kill(-(shell.pid as number), 0)).toThrow('ESRCH');
    },
    WALK_MS,
  );
});
