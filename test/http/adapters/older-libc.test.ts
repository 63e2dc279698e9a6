// The copy of the binary of uWebSockets.js that loads on an older glibc.
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { reasonAgainstUws } from '../../../src/http/open-server.ts';
import { lacksNewerNames, loadForOlderLibc, nameOlderFunctions } from '../../../src/http/uws/library.ts';

const { platform, arch, versions } = process;
const folder = dirname(createRequire(import.meta.url).resolve('uWebSockets.js'));
const file = join(folder, `uws_${platform}_${arch}_${versions.modules}.node`);
const isHere = platform === 'linux' && existsSync(file) && (await reasonAgainstUws()) === undefined;

// musl and other systems have no such binary.
describe.skipIf(!isHere)('the binary', () => {
  test('loads with the older names, wherever it loads at all', () => {
    expect(loadForOlderLibc(file)).toMatchObject({
      App: expect.any(Function),
      us_listen_socket_close: expect.any(Function),
    });
  });

  test('differs in a few bytes only', () => {
    const [before, after] = [readFileSync(file), readFileSync(file)];
    expect(nameOlderFunctions(after)).toBe(true);
    let changed = 0;
    for (let at = 0; at < before.length; at++) if (before[at] !== after[at]) changed++;
    expect(changed).toBeGreaterThan(0);
    expect(changed).toBeLessThan(30);
    expect(after.length).toBe(before.length);
  });

  test('stays unchanged when it needs another function of the newer library', () => {
    const binary = readFileSync(file);
    const at = binary.indexOf('__isoc23_strtoul\0');
    binary.write('__isoc23_strtoxx', at);
    expect(nameOlderFunctions(binary)).toBe(false);
  });
});

test('leaves a file that is not a library unchanged', () => {
  expect(nameOlderFunctions(Buffer.from('#!/bin/sh\n'))).toBe(false);
  expect(nameOlderFunctions(Buffer.alloc(0))).toBe(false);
});

test('only the names of the newer library are a reason to try', () => {
  expect(lacksNewerNames("libc.so.6: version `GLIBC_2.38' not found (required by uws.node)")).toBe(true);
  expect(lacksNewerNames("libc.so.6: version `GLIBC_2.36' not found (required by uws.node)")).toBe(false);
  expect(lacksNewerNames('Error loading shared library ld-linux-x86-64.so.2')).toBe(false);
});
