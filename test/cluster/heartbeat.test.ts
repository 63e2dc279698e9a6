// What of a heartbeat is believed: whatever else comes on the topic is none.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type Heartbeat, readHeartbeat } from '../../src/cluster/membership/heartbeat.ts';

const good: Heartbeat = {
  type: 'node.heartbeat',
  node: 'abc123',
  id: 'a',
  roles: ['edge', 'upstream'],
  version: '1.2.3',
  sessions: 3,
  legs: 5,
  sessionsMax: null,
  draining: false,
  leaving: false,
  wallMs: 1e12,
};

test('reads a complete one as it is', () => {
  expect(readHeartbeat({ ...good })).toEqual(good);
  expect(readHeartbeat({ ...good, sessionsMax: 9 })?.sessionsMax).toBe(9);
  expect(readHeartbeat({ ...good, url: 'https://edge.example.com' })?.url).toBe('https://edge.example.com');
  for (const url of ['javascript:alert(1)', 'https://a b', `https://${'a'.repeat(300)}`, 7])
    expect(readHeartbeat({ ...good, url })).toEqual(good);
});

test('reads the known part of one from a newer version', () => {
  expect(readHeartbeat({ ...good, roles: ['edge', 'upstream', 'poet'], more: 1 })).toEqual(good);
});

test.each<[string, unknown]>([
  ['another type', { type: 'key.revoked' }],
  ['a node with a slash', { node: 'x/y' }],
  ['a long node', { node: 'x'.repeat(33) }],
  ['no id', { id: '' }],
  ['an id that moves the cursor', { id: 'a\u001b[2J' }],
  ['roles as a text', { roles: 'edge' }],
  ['too many roles', { roles: Array(17).fill('edge') }],
  ['fewer sessions than none', { sessions: -1 }],
  ['half a leg', { legs: 1.5 }],
  ['a limit as a text', { sessionsMax: '9' }],
  ['a number for draining', { draining: 1 }],
  ['nothing for leaving', { leaving: undefined }],
  ['no time', { wallMs: Number.NaN }],
  ['a long version', { version: 'x'.repeat(65) }],
])('rejects one with %s', (_, change) => {
  expect(readHeartbeat({ ...good, ...(change as object) })).toBeUndefined();
});

test('never throws for any input, and reads complete ones only', () => {
  const keys = Object.keys(good);
  const body = fc.oneof(
    fc.anything(),
    fc.dictionary(fc.constantFrom(...keys), fc.anything()).map((some) => ({ ...good, ...some })),
  );
  fc.assert(
    fc.property(body, (given) => {
      const read = readHeartbeat(given);
      if (read !== undefined) expect(Object.keys(read).sort()).toEqual([...keys].sort());
    }),
    { seed: 1, numRuns: 2000 },
  );
});
