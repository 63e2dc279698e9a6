// Request ids: their form, and that they sort by time.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { newRequestId } from '../../../src/http/router.ts';
import { uuidv7 } from '../../../src/runtime/uuid.ts';

const WALL_MS = 1_700_000_000_000;

test('makes a UUIDv7 as in RFC 9562, appendix A.6', () => {
  expect(uuidv7(0x017f22e279b0, Buffer.from('0cc398c4dc0c0c07398f', 'hex'))).toBe(
    '017f22e2-79b0-7cc3-98c4-dc0c0c07398f',
  );
});

test('makes valid ids for any random bytes, sorted by time', () => {
  fc.assert(
    fc.property(
      fc.uint8Array({ minLength: 10, maxLength: 10 }),
      fc.integer({ min: 1, max: 10 ** 12 }),
      (random, laterMs) => {
        const id = newRequestId(WALL_MS, random);
        expect(id).toMatch(/^req_[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
        expect(newRequestId(WALL_MS + laterMs, random) > id).toBe(true);
      },
    ),
  );
});

test('ten thousand ids of one millisecond are ten thousand', () => {
  expect(new Set(Array.from({ length: 10_000 }, () => newRequestId(WALL_MS))).size).toBe(10_000);
});
