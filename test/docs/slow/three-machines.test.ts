// docs/operations/three-machines.md: every command of it, in order, in a clean directory. Ports are those of the test.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { freePorts } from '../../fakes/free-ports.ts';
import { currentNats } from '../../fakes/network/nats-cluster.ts';
import { expectReading } from '../../fakes/reading.ts';
import { temporaryDirectory } from '../../fakes/temporary-directory.ts';
import { addressOf, Machine } from '../machine.ts';
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

  test(
    'installs three machines, of which any may be lost',
    async () => {
      const [secrets = '', install = '', settings = '', existing = '', start = ''] = commandsIn('On three machines');
      expect(existing).toContain('cp -a /var/lib/private/voxgate /var/lib/private/voxgate-accounts');
      const [, units = ''] = /systemctl enable --now (.*)$/m.exec(start) ?? [];
      expect(units.split(' ')).toEqual(['nats-server', 'voxgate@accounts', 'voxgate@upstream', 'voxgate@edge']);
      const was = [4222, 6222, 8080, 8081, 8082, 8222];
      const ports = await freePorts(was.length);
      const here = (text: string) =>
        was.reduce(
          (result, port, index) => result.replaceAll(`${port}`, `${ports[index]}`),
          text.replaceAll(/vox-(\d)\.example\.com/g, (_, number) => addressOf(Number(number))),
        );
      const machines = [1, 2, 3].map((number) => new Machine(number));
      onTestFinished(async () => void (await Promise.all(machines.map((machine) => machine.lose()))));
      const [first] = machines as [Machine];
      first.type(here(secrets));
      for (const machine of machines) {
        if (machine !== first) machine.copy('secrets', first);
        // The names of machines are addresses here, and each has its own.
        const own = install.replace(String.raw`vox-\1.example.com`, String.raw`127.0.0.2\1`);
        machine.type(`${here(own)}\n${here(settings)}`);
        machine.edit('etc/nats/nats-cluster.conf', (config) =>
          here(config)
            .replaceAll(/0\.0\.0\.0:|127\.0\.0\.1:/g, `${machine.address}:`)
            .replaceAll(/"\/(etc|var)\//g, `"${machine.root}/$1/`),
        );
      }
      const programs = {
        '/usr/local/bin/nats-server': currentNats.path,
        '/usr/bin/node': process.execPath,
        '/opt/voxgate/bin/voxgate.js': join(ROOT, 'bin/voxgate.js'),
      };
      for (const machine of machines) for (const unit of units.split(' ')) machine.start(unit, programs);

      const ask = async (machine: Machine, path: string, port = 8080, init: RequestInit = {}) => {
        const answer = await fetch(`http://${machine.address}:${here(`${port}`)}${path}`, init).catch(() => undefined);
        return answer && { status: answer.status, body: await answer.text() };
      };
      const isReady = async (machine: Machine, path: string, port: number) =>
        (await ask(machine, path, port))?.status === 200;
      const untilReady = (each: readonly Machine[], path: string, port: number) =>
        expect
          .poll(() => Promise.all(each.map((machine) => isReady(machine, path, port))), { timeout: WALK_MS })
          .toEqual(each.map(() => true));
      await untilReady(machines, '/readyz?standby=true', 8081);
      await untilReady(machines, '/readyz', 8082);
      await untilReady(machines, '/readyz?paid=true', 8080);

      let owners: boolean[] = [];
      const readOwners = async () => {
        owners = await Promise.all(machines.map((machine) => isReady(machine, '/readyz', 8081)));
        return owners.filter(Boolean).length;
      };
      // An owner that is behind on a busy machine is not ready for a moment.
      await expect.poll(readOwners, { timeout: WALK_MS }).toBe(1);
      const owner = machines[owners.indexOf(true)] as Machine;
      // The accounts may have changed hands since the first start.
      const keys = machines.map((machine) => join(machine.root, 'var/lib/voxgate-accounts/first-key'));
      const key = readFileSync(keys.find((file) => existsSync(file)) ?? '', 'utf8').trim();
      const headers = { Authorization: `Bearer ${key}` };
      const mint = async (machine: Machine) =>
        (await ask(machine, '/v1/tokens', 8080, { method: 'POST', headers }))?.status;
      for (const machine of machines) expect(await mint(machine)).toBe(200);
      // Each role may do at NATS what it needs.
      expect(machines.flatMap((machine) => machine.logged(/does not let this node/))).toEqual([]);
      await owner.lose();
      const left = machines.filter((machine) => machine !== owner);
      await untilReady(left, '/readyz?paid=true', 8080);
      for (const machine of left) await expect.poll(() => mint(machine), { timeout: WALK_MS }).toBe(200);
    },
    2 * WALK_MS,
  );
});
