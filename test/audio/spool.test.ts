// The spool file: first in, first out, within its budget, and gone in every ending.
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { BLOCK_BYTES } from '../../src/audio/tape/blocks.ts';
import { FileSpools } from '../../src/audio/tape/spool.ts';
import { Quota } from '../../src/runtime/limits/quota.ts';

let directory: string;
let faults: string[];

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'voxgate-spool-'));
  faults = [];
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

const folder = (blocks: number, path = directory) =>
  new FileSpools({ directory: path, quota: new Quota(blocks, 1), onFault: (error) => faults.push(error.message) });
const block = (content: number) => new Uint8Array(BLOCK_BYTES).fill(content);

test('blocks come back in order, and room that was read is written again', () => {
  const spools = folder(3);
  const spool = spools.open('org');
  const read = new Uint8Array(BLOCK_BYTES);
  const got: number[] = [];
  const take = () => {
    spool.take(read);
    expect(new Set(read).size).toBe(1);
    got.push(read[0]!);
  };
  for (let i = 0; i < 3; i++) expect(spool.put(block(i))).toBe(true);
  for (let i = 3; i < 30; i++) {
    take();
    expect(spool.put(block(i))).toBe(true);
    expect(spools.bytes).toBe(3 * BLOCK_BYTES);
  }
  expect(spool.length).toBe(3);
  while (spool.length > 0) take();
  expect(got).toEqual(Array.from({ length: 30 }, (_, i) => i));
  expect(spools.bytes).toBe(0);
  expect(() => spool.take(read)).toThrow('empty');
  spool.close();
});

test('room is shared: a block beyond it is refused, until another spool gives room back', () => {
  const spools = folder(2);
  const [one, two] = [spools.open('one'), spools.open('two')];
  expect([one.put(block(1)), two.put(block(2)), one.put(block(3)), two.put(block(4))]).toEqual([
    true,
    true,
    false,
    false,
  ]);
  expect([one.shortage, two.shortage]).toEqual(['full', 'full']);
  two.close();
  two.close();
  expect(spools.bytes).toBe(BLOCK_BYTES);
  expect([one.put(block(3)), two.put(block(5)), one.length, two.length]).toEqual([true, false, 2, 0]);
  expect(one.shortage).toBe(undefined);
  one.close();
  expect(spools.bytes).toBe(0);
});

test('names no file that could outlive its session', () => {
  const spool = folder(10).open('org');
  spool.put(block(1));
  expect(readdirSync(directory)).toEqual([]);
  spool.close();
});

// Skipped elsewhere: only Linux lists a process's open files in /proc.
test.runIf(process.platform === 'linux')('holds no file open once closed, or when unused', () => {
  const open = () => readdirSync('/proc/self/fd').length;
  const before = open();
  const [used, unused] = [folder(10).open('org'), folder(10).open('org')];
  used.put(block(1));
  expect(open()).toBe(before + 1);
  used.close();
  unused.close();
  expect(open()).toBe(before);
});

test('refuses blocks for an unwritable folder, and says why', () => {
  const spools = folder(10, join(directory, 'missing'));
  const spool = spools.open('org');
  expect([spool.put(block(1)), spool.shortage]).toEqual([false, 'fault']);
  expect(faults).toEqual([expect.stringContaining('ENOENT')]);
  expect(spools.bytes).toBe(0);
  spool.close();
});
