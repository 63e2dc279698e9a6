// The program without its source and without the packages of development, as it is on a server.
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, statSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { temporaryDirectory } from '../fakes/temporary-directory.ts';

const root = join(import.meta.dirname, '../..');

/** The environment in which packages find each other as they would if they were no links: none of development's. */
export const LINKED_PACKAGES = { NODE_OPTIONS: '--preserve-symlinks --preserve-symlinks-main' };

/** A folder with such files and folders of the checkout. `node_modules` stands for links to what is not development's. */
export function installedProgram(names: readonly string[]): string {
  const folder = temporaryDirectory();
  for (const name of names)
    if (name !== 'node_modules') cpSync(join(root, name), join(folder, name), { recursive: true });
  linkPackages(folder);
  return folder;
}

/** Installs what `npm pack` makes of the checkout, and returns the path of its command. */
export function packedProgram(): string {
  const folder = temporaryDirectory();
  const program = join(folder, 'node_modules/voxgate');
  unpack(program);
  linkPackages(folder);
  return join(program, 'bin/voxgate.js');
}

/** What `npm pack` makes of the checkout with its packages inside, as an image has it. */
export function unpackedProgram(): string {
  const folder = temporaryDirectory();
  unpack(folder);
  linkPackages(folder);
  return folder;
}

function unpack(folder: string): void {
  const aside = temporaryDirectory();
  const packed = execFileSync('npm', ['pack', '--silent', '--ignore-scripts', '--pack-destination', aside], {
    cwd: root,
    encoding: 'utf8',
  });
  mkdirSync(folder, { recursive: true });
  execFileSync('tar', ['-xzf', join(aside, packed.trim()), '-C', folder, '--strip-components=1']);
}

/** Links what is not development's. */
function linkPackages(folder: string): void {
  const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as {
    packages: Record<string, { dev?: boolean; devOptional?: boolean }>;
  };
  for (const [path, { dev, devOptional }] of Object.entries(packages)) {
    // Packages inside packages come along with those.
    if (dev || devOptional || !/^node_modules\/(@[^/]+\/)?[^/]+$/.test(path)) continue;
    if (statSync(join(root, path), { throwIfNoEntry: false }) === undefined) continue;
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    symlinkSync(join(root, path), join(folder, path));
  }
}
