// What a person at a terminal is told at Ctrl-C, and nobody else.
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { onSignals } from '../../src/cli/serve/ending.ts';

let written: string[];
let detach: () => void;
let signals: number;
const isTty = process.stderr.isTTY;

beforeEach(() => {
  written = [];
  signals = 0;
  vi.spyOn(process.stderr, 'write').mockImplementation((text) => written.push(String(text)) > 0);
  detach = onSignals(() => signals++);
});
afterEach(() => {
  detach();
  process.stderr.isTTY = isTty;
  vi.restoreAllMocks();
});

it('says at the first Ctrl-C that a second one stops at once', () => {
  process.stderr.isTTY = true;
  process.emit('SIGINT', 'SIGINT');
  expect(written.join('')).toContain('Press Ctrl-C again to stop at once.');
  process.emit('SIGINT', 'SIGINT');
  expect([written.length, signals]).toEqual([1, 2]);
});

it.each<[string, NodeJS.Signals, boolean]>([
  ['a service manager', 'SIGTERM', true],
  ['a program that reads the output', 'SIGINT', false],
])('says nothing to %s', (_, signal, terminal) => {
  process.stderr.isTTY = terminal;
  process.emit(signal, signal);
  expect([written, signals]).toEqual([[], 1]);
});
