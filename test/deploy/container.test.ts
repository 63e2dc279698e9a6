// deploy/Containerfile: what it copies is enough to run, and what it says fits the program. No image is built here: the last
// stage is laid out by hand, with the packages that are left when development's are gone.
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { loadConfig } from '../../src/index.ts';
import { freePorts } from '../fakes/free-ports.ts';
import { temporaryDirectory } from '../fakes/temporary-directory.ts';
import { LINKED_PACKAGES, unpackedProgram } from './installed-program.ts';
import { deployFile, proxyDirectory } from './proxy-rig.ts';
import { ServedProcess } from './served-process.ts';

const root = join(import.meta.dirname, '../..');
const read = (name: string) => readFileSync(join(root, name), 'utf8');
const packageFile = JSON.parse(read('package.json'));

/** Instructions with their arguments, continued lines put together. */
const instructions = deployFile('Containerfile')
  .replaceAll(/^#.*\n/gm, '')
  .replaceAll(/\\\n\s*/g, '')
  .split('\n')
  .filter((line) => line !== '')
  .map((line) => /^([A-Z]+) (.*)$/.exec(line)!.slice(1, 3) as [string, string]);
const lastStage = instructions.slice(instructions.findLastIndex(([name]) => name === 'FROM'));
const argumentsOf = (wanted: string, among = lastStage) =>
  among.filter(([name]) => name === wanted).map(([, rest]) => rest);
const settings = Object.fromEntries(
  argumentsOf('ENV').flatMap((rest) =>
    rest
      .trim()
      .split(/\s+/)
      .map((pair) => pair.split('=') as [string, string]),
  ),
);
/** Every file with its size and time. */
const listing = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => !name.startsWith('node_modules'))
    .map((name) => `${name} ${statSync(join(folder, name)).size} ${statSync(join(folder, name)).mtimeMs}`)
    .sort();

describe('the image', () => {
  test('contains the package of `npm pack`, with its packages', () => {
    const [build = '', ...further] = argumentsOf('RUN', instructions).filter((rest) => rest.includes('npm pack'));
    expect(further).toEqual([]);
    expect(build).toContain('npm prune --omit=dev');
    expect(build).toMatch(/tar -xzf voxgate-\*\.tgz -C (\/\w+) --strip-components=1 && mv node_modules \1\/$/);
    expect(argumentsOf('COPY')).toEqual([`--from=build ${/-C (\/\w+)/.exec(build)?.[1]} ./`]);
  });

  test('copies only files that exist and pass .dockerignore', () => {
    const let_through = read('.dockerignore')
      .split('\n')
      .filter((line) => line.startsWith('!'))
      .map((line) => line.slice(1));
    const sources = argumentsOf('COPY', instructions.slice(0, -lastStage.length)).flatMap((rest) =>
      rest.split(' ').slice(0, -1),
    );
    expect(sources.filter((name) => statSync(join(root, name), { throwIfNoEntry: false }) === undefined)).toEqual([]);
    // A file that is copied before the rest of its folder comes along with that.
    const folders = sources.filter((name) => !sources.some((other) => name.startsWith(`${other}/`)));
    expect(folders.sort()).toEqual([...let_through].sort());
  });

  test('runs on a supported Node, as an ordinary user, with its data in a volume', () => {
    const majors = argumentsOf('FROM', instructions).map((rest) => Number(/node:(\d+)-/.exec(rest)?.[1]));
    const [, least = '', below = ''] = /^>=(\d+)\S* <(\d+)$/.exec(packageFile.engines.node) ?? [];
    for (const major of majors) expect(major >= Number(least) && major < Number(below)).toBe(true);
    expect(new Set(majors).size).toBe(1);
    expect(argumentsOf('USER')).toEqual(['node']);
    expect(argumentsOf('VOLUME')).toEqual([settings.VOXGATE_DATA_DIRECTORY]);
    expect(argumentsOf('EXPOSE')).toEqual([settings.VOXGATE_PORT]);
    expect(Number(settings.VOXGATE_PORT)).toBe(loadConfig({}, { providers: [] }).server.port);
  });

  test('runs self-contained, writes to its volume only, reports health, and stops in order', async () => {
    const image = unpackedProgram();
    const before = listing(image);
    const [node, program, ...args] = JSON.parse(argumentsOf('CMD')[0] as string) as string[];
    expect([node, program]).toEqual(['node', 'bin/voxgate.js']);
    const [port = 0] = await freePorts(1);
    const env = {
      ...settings,
      ...LINKED_PACKAGES,
      VOXGATE_PORT: `${port}`,
      VOXGATE_DATA_DIRECTORY: temporaryDirectory(),
    };
    const check = JSON.parse(/\[.*\]$/.exec(argumentsOf('HEALTHCHECK')[0] as string)![0]) as string[];
    const health = (given: Record<string, string>) =>
      spawnSync(process.execPath, check.slice(1), { env: { VOXGATE_PORT: `${port}`, ...given } }).status;

    const { certFile, keyFile } = proxyDirectory();
    const overTls = { VOXGATE_TLS_CERT_FILE: certFile, VOXGATE_TLS_KEY_FILE: keyFile };
    for (const given of [{}, overTls]) {
      const served = await ServedProcess.start(args, { ...env, ...given }, undefined, image);
      expect(health(given)).toBe(0);
      expect(await served.end(argumentsOf('STOPSIGNAL')[0] as NodeJS.Signals)).toEqual({ code: 0, signal: null });
      expect(health(given)).toBe(1);
    }
    expect(listing(image)).toEqual(before);
  });
});
