// Makes files by recipes, and keeps and reads those that are committed: an archive of tar, compressed, whose first member says how
// long they are.
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gunzipSync } from 'node:zlib';
import type { Recipe } from './recipes.ts';

const run = promisify(execFile);
const ROOT = join(import.meta.dirname, '../../../..');
export const SOURCE = join(ROOT, 'test/fixtures/audio/commands.wav');
export const ARCHIVE = join(ROOT, 'test/fixtures/audio/honest.tar.gz');
export const LENGTHS = 'lengths.json';

export type HonestFile = Pick<Recipe, 'name' | 'seconds' | 'spareSeconds'> & { bytes: Buffer<ArrayBuffer> };

/** @param directory where the file is left */
export async function make({ name, command, seconds, spareSeconds }: Recipe, directory: string): Promise<HonestFile> {
  const [program = '', ...args] = command;
  await run(program, args, { cwd: directory });
  return { name, seconds, spareSeconds, bytes: await readFile(join(directory, name)) };
}

/** The committed files. */
export function honestFiles(): readonly HonestFile[] {
  const members = new Map(tarMembers(gunzipSync(readFileSync(ARCHIVE))));
  const lengths = JSON.parse(String(members.get(LENGTHS))) as Omit<HonestFile, 'bytes'>[];
  return lengths.map((length) => ({ ...length, bytes: Buffer.from(members.get(length.name) ?? []) }));
}

const BLOCK_BYTES = 512;

export function* tarMembers(tar: Buffer): Generator<[string, Buffer]> {
  for (let at = 0; at + BLOCK_BYTES <= tar.length && tar[at] !== 0; ) {
    const name = tar.toString('latin1', at, at + 100).replace(/\0.*$/, '');
    const size = Number.parseInt(tar.toString('latin1', at + 124, at + 136), 8);
    at += BLOCK_BYTES;
    yield [name, tar.subarray(at, at + size)];
    at += Math.ceil(size / BLOCK_BYTES) * BLOCK_BYTES;
  }
}

/** Whether a length is right, within one percent or what the encoder may add. */
export const isRight = (seconds: number, file: Omit<HonestFile, 'bytes'>): boolean =>
  Math.abs(seconds - file.seconds) <= Math.max(0.01 * file.seconds, file.spareSeconds) + 0.001;
