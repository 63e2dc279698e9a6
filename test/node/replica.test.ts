import { expect, test } from 'vitest';
import { logFault } from '../../src/node/replica.ts';

const MEBIBYTE = 1024 * 1024;

test.each([
  ['2.9.10', 1],
  ['2.12.0', 3],
  ['2.15.1', 5],
  ['3.0.0', 3],
])('nats-server %s carries the log of the accounts on %i servers', (version, replicas) => {
  expect(logFault({ version, max_payload: MEBIBYTE }, replicas)).toBeUndefined();
});

test('an older nats-server is refused where several servers agree on the log', () => {
  for (const version of ['2.9.10', '2.11.9', '1.4.1', '']) {
    expect(logFault({ version, max_payload: MEBIBYTE }, 3)).toMatch(/need nats-server 2\.12 or newer .*sync_interval/);
  }
});

test('servers that accept smaller messages than an entry are refused', () => {
  expect(logFault({ version: '2.15.1', max_payload: 65_536 }, 1)).toMatch(/these accept 65536: set `max_payload: 1MB`/);
});
