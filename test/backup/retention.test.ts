// Which backups are kept, and which names are backups at all.
import { expect, test } from 'vitest';
import { copyNameOf, nameStart, readCopyName } from '../../src/backup/copy-name.ts';
import { outdatedOf } from '../../src/backup/retention.ts';

const LEDGER = 'led_0123456789abcdef01234567';
const HOUR = 3_600_000;
const START = Date.UTC(2026, 0, 1, 0, 30);
const hourly = (count: number) => Array.from({ length: count }, (_, index) => ({ madeAtMs: START + index * HOUR }));

test('keeps the newest, and the last of each day', () => {
  const copies = hourly(10 * 24);
  const outdated = outdatedOf(copies, { copies: 48, days: 30 });
  const kept = copies.filter((copy) => !outdated.includes(copy));
  expect(kept).toHaveLength(48 + 8);
  expect(kept.slice(0, 8).map(({ madeAtMs }) => new Date(madeAtMs).toISOString().slice(8, 13))).toEqual([
    '01T23',
    '02T23',
    '03T23',
    '04T23',
    '05T23',
    '06T23',
    '07T23',
    '08T23',
  ]);
});

test('keeps days only as far as days are counted', () => {
  const copies = hourly(10 * 24);
  expect(copies.length - outdatedOf(copies, { copies: 1, days: 3 }).length).toBe(3);
  expect(copies.length - outdatedOf(copies, { copies: 5, days: 0 }).length).toBe(5);
});

test('counts days that have backups, so that a long pause removes none', () => {
  const copies = [...hourly(48), { madeAtMs: START + 400 * 24 * HOUR }];
  const outdated = outdatedOf(copies, { copies: 1, days: 3 });
  expect(copies.filter((copy) => !outdated.includes(copy)).map(({ madeAtMs }) => (madeAtMs - START) / HOUR)).toEqual([
    23, 47, 9600,
  ]);
});

test('reads the names that it gives, and no others', () => {
  for (const isSealed of [true, false]) {
    const copy = copyNameOf(LEDGER, START + 123, isSealed);
    expect(readCopyName(copy.name)).toEqual(copy);
    expect(copy.name.startsWith(nameStart(LEDGER))).toBe(true);
  }
  const others = [
    '',
    'voxgate.db',
    `voxgate-${LEDGER}-20260230T000000000Z.db.gz`,
    `voxgate-${LEDGER}-20260101T250000000Z.db.gz`,
    `voxgate-${LEDGER}-20260101T000000000Z.db.gz.partial`,
    `.voxgate-${LEDGER}-20260101T000000000Z.db.gz`,
    `voxgate-led_xyz-20260101T000000000Z.db.gz`,
    `old/voxgate-${LEDGER}-20260101T000000000Z.db.gz`,
  ];
  expect(others.map(readCopyName)).toEqual(others.map(() => undefined));
});
