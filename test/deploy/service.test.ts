// deploy/voxgate.service and deploy/environment: what they say is what the program does and needs. systemd itself is asked
// where its tool is installed; what it would run is run here.
import { spawnSync } from 'node:child_process';
import { chmodSync, chownSync, cpSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { EXIT } from '../../src/cli/shared/output.ts';
import { loadConfig } from '../../src/index.ts';
import { DRAIN_TAIL_MS } from '../../src/live/session/host.ts';
import { voxgate } from '../fakes/processes/voxgate.ts';
import { temporaryDirectory } from '../fakes/temporary-directory.ts';
import { installedProgram, LINKED_PACKAGES } from './installed-program.ts';
import { deployFile, substituted } from './proxy-rig.ts';
import { environmentOf, ServedProcess } from './served-process.ts';

const PROGRAM = '/usr/bin/node /opt/voxgate/bin/voxgate.js';
/** For closing what is open. */
const CLOSING_SECONDS = 5;
/** Sockets to client and provider, and a spool file. */
const DESCRIPTORS_PER_SESSION = 3;

const unit = deployFile('voxgate.service');
const config = loadConfig({}, { providers: [] });

/** The last value of a directive. Throws where the unit has not got it. */
function directive(name: string): string {
  const value = unit
    .split('\n')
    .filter((line) => line.startsWith(`${name}=`))
    .at(-1);
  if (value === undefined) throw new Error(`The unit has no ${name}.`);
  return value.slice(name.length + 1);
}

describe('the unit', () => {
  test('consists of sections, directives and comments, each directive but filters once', () => {
    const lines = unit.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
    const strange = lines.filter((line) => !/^(\[(Unit|Service|Install)\]|[A-Z]\w+=.*)$/.test(line));
    expect(strange).toEqual([]);
    const names = lines.filter((line) => line.includes('=')).map((line) => line.split('=', 1)[0] as string);
    const twice = names.filter((name, index) => names.indexOf(name) !== index);
    expect(twice).toEqual(['SystemCallFilter']);
  });

  test('gives sessions their time to drain before it kills', () => {
    const needed = (config.session.drainMs + DRAIN_TAIL_MS + config.backup.stopMs) / 1000 + CLOSING_SECONDS;
    expect(Number(directive('TimeoutStopSec'))).toBeGreaterThanOrEqual(needed);
    expect(directive('KillSignal')).toBe('SIGTERM');
  });

  test('allows file descriptors for as many sessions as a node takes', () => {
    const needed = DESCRIPTORS_PER_SESSION * config.limits.sessionsPerNodeMax + 1_000;
    expect(Number(directive('LimitNOFILE'))).toBeGreaterThanOrEqual(needed);
  });

  test('restarts what failed, but no wrong setting and no wrong argument', async () => {
    expect(directive('Restart')).toBe('on-failure');
    const given = directive('RestartPreventExitStatus').split(' ').map(Number);
    expect(given).toEqual([EXIT.usage, EXIT.config]);
    const wrongSetting = await voxgate(['serve'], { VOXGATE_PORT: 'a port' });
    const wrongArgument = await voxgate(['serve', '--nonsense']);
    expect([wrongArgument.code, wrongSetting.code]).toEqual(given);
  });

  test('keeps the data in its own writable directory, readable by no other user', () => {
    expect(directive('Environment')).toBe(`VOXGATE_DATA_DIRECTORY=/var/lib/${directive('StateDirectory')}`);
    expect([directive('StateDirectoryMode'), directive('UMask'), directive('DynamicUser')]).toEqual([
      '0700',
      '0077',
      'yes',
    ]);
  });

  test('differs for a role only by its names, settings and data', () => {
    const lines = (text: string) => text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
    const [one, several] = [lines(unit), lines(deployFile('voxgate@.service'))];
    expect(several.filter((line) => !one.includes(line))).toEqual([
      'Description=Voxgate, a gateway for speech-to-text: %i',
      'Documentation=file:///opt/voxgate/docs/operations/three-machines.md',
      'Environment=VOXGATE_DATA_DIRECTORY=/var/lib/voxgate-%i',
      'EnvironmentFile=/etc/voxgate/common',
      'EnvironmentFile=/etc/voxgate/%i',
      'User=voxgate-%i',
      'StateDirectory=voxgate-%i',
    ]);
    expect(one.filter((line) => !several.includes(line)).map((line) => line.split('=', 1)[0])).toEqual([
      'Description',
      'Documentation',
      'Environment',
      'EnvironmentFile',
      'User',
      'StateDirectory',
    ]);
  });

  const hasTool = spawnSync('systemd-analyze', ['--version']).status === 0;
  if (!hasTool) console.warn('systemd-analyze is not installed: systemd is not asked about the unit.');
  // The tool belongs to the operating system: it is on every machine that would run the unit.
  test.skipIf(!hasTool)('passes systemd’s checks, and is well confined', () => {
    const file = join(temporaryDirectory(), 'voxgate.service');
    writeFileSync(file, substituted(unit, [['/usr/bin/node', process.execPath]]));
    const verified = spawnSync('systemd-analyze', ['verify', '--man=no', file], { encoding: 'utf8' });
    expect([verified.status, verified.stderr]).toEqual([0, '']);
    const template = join(temporaryDirectory(), 'voxgate@.service');
    writeFileSync(template, substituted(deployFile('voxgate@.service'), [['/usr/bin/node', process.execPath]]));
    const each = spawnSync('systemd-analyze', ['verify', '--man=no', template], { encoding: 'utf8' });
    expect([each.status, each.stderr]).toEqual([0, '']);
    const addition = /^```ini\n([\s\S]*?)^```$/m.exec(deployFile('../docs/operations/deploy.md'))?.[1] ?? '';
    expect(addition).toContain('LoadCredential=');
    mkdirSync(`${file}.d`);
    writeFileSync(join(`${file}.d`, 'override.conf'), addition);
    const overridden = spawnSync('systemd-analyze', ['verify', '--man=no', file], { encoding: 'utf8' });
    expect([overridden.status, overridden.stderr]).toEqual([0, '']);
    // In tenths, from 0 (shut) to 100 (open); a unit without any of it has 96.
    const security = ['security', '--offline=true', '--threshold=20', file];
    const confined = spawnSync('systemd-analyze', security, { encoding: 'utf8' });
    expect(confined.status, confined.stdout + confined.stderr).toBe(0);
  });
});

describe('the command of the unit', () => {
  const command = substituted(directive('ExecStart'), [[`${PROGRAM} `, '']]).split(' ');
  const program = installedProgram(['bin', 'dist', 'package.json', 'node_modules']);

  test('serves with the settings of the environment file, and stops in order', async () => {
    const env = environmentOf(deployFile('environment'));
    expect(env).toMatchObject({ VOXGATE_TRUSTED_PROXIES: expect.any(String), VOXGATE_METRICS_TOKEN: '' });
    const installed = { ...env, ...LINKED_PACKAGES, VOXGATE_DATA_DIRECTORY: temporaryDirectory() };
    const served = await ServedProcess.start(command, installed, undefined, program);
    const metrics = await fetch(`${served.url}/metrics`);
    expect(metrics.status).toBe(404);
    expect(await served.end(directive('KillSignal') as NodeJS.Signals)).toEqual({ code: 0, signal: null });
  });

  // Only root can start it as another user and manage it.
  test.skipIf(process.getuid?.() !== 0)('keeps working after root has changed its data', async () => {
    const directory = temporaryDirectory();
    for (const folder of [directory, program]) chownSync(folder, ServedProcess.SOMEBODY, ServedProcess.SOMEBODY);
    const env = { VOXGATE_DATA_DIRECTORY: directory };
    const serve = () => ServedProcess.start(command, { ...env, ...LINKED_PACKAGES }, ServedProcess.SOMEBODY, program);
    const run = (args: readonly string[]) => voxgate(args, env);
    const first = await serve();
    const operate = async () => {
      for (const args of [
        ['keys', 'create', '--name', 'by root'],
        ['keys', 'list'],
        ['vault', 'status'],
        ['ledger', 'audit'],
      ]) {
        expect(await run(args), args.join(' ')).toMatchObject({ code: 0 });
      }
    };
    const owners = () =>
      spawnSync('find', [directory, '-not', '-uid', String(ServedProcess.SOMEBODY)], { encoding: 'utf8' });
    await operate();
    expect(owners().stdout).toBe('');
    const backup = join(temporaryDirectory(), 'backup.db');
    expect(await run(['ledger', 'backup', backup])).toMatchObject({ code: 0 });
    await first.end('SIGTERM');
    await operate();
    expect(owners().stdout).toBe('');
    expect(await run(['ledger', 'restore', backup, '--force'])).toMatchObject({ code: 0 });
    expect(owners().stdout).toBe('');
    const second = await serve();
    expect(await second.end('SIGTERM')).toEqual({ code: 0, signal: null });
  });

  // As above. The program is root's and holds its source, which is newer than what was built of it.
  test.skipIf(process.getuid?.() !== 0)('says what to do where it would have to build itself and may not', async () => {
    const unbuilt = temporaryDirectory();
    chmodSync(unbuilt, 0o755);
    cpSync(join(import.meta.dirname, '../../bin'), join(unbuilt, 'bin'), { recursive: true });
    cpSync(join(import.meta.dirname, '../../package.json'), join(unbuilt, 'package.json'));
    for (const folder of ['src', 'machines']) mkdirSync(join(unbuilt, folder));
    writeFileSync(join(unbuilt, 'src/main.ts'), '');
    const started = ServedProcess.start(command, {}, ServedProcess.SOMEBODY, unbuilt);
    await expect(started).rejects.toThrow(/: The source has changed since dist\/ was built, .* Run `npm run build` /);
  });
});
