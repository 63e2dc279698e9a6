// A sealed box: its receiver opens it, for what it is bound to; nobody else does, and nothing that was changed.
import { expect, test } from 'vitest';
import { newBoxReceiver, sealBox } from '../../src/runtime/sealing.ts';

const plain = Buffer.from('canary-secret');

test('opens for its receiver, once for each thing it is bound to', () => {
  const receiver = newBoxReceiver();
  const box = sealBox(receiver.publicKey, 'this', plain)!;
  expect(receiver.open('this', box)?.equals(plain)).toBe(true);
  expect(receiver.open('that', box)).toBeUndefined();
  expect(newBoxReceiver().open('this', box)).toBeUndefined();
  expect(box.includes(plain)).toBe(false);
});

test('differs each time', () => {
  const { publicKey } = newBoxReceiver();
  const boxes = Array.from({ length: 10 }, () => sealBox(publicKey, 'this', plain)!.toString('hex'));
  expect(new Set(boxes.map((box) => box.slice(0, 64))).size).toBe(10);
});

test('does not open with any bit changed, or cut short', () => {
  const receiver = newBoxReceiver();
  const box = sealBox(receiver.publicKey, 'this', plain)!;
  for (let index = 0; index < box.length; index++) {
    const changed = Buffer.from(box);
    changed[index]! ^= 1;
    expect(receiver.open('this', changed)).toBeUndefined();
    expect(receiver.open('this', box.subarray(0, index))).toBeUndefined();
  }
});

test.each([
  ['too short', new Uint8Array(31)],
  ['of a point of low order', new Uint8Array(32)],
])('refuses to seal for a key that is %s', (_, publicKey) => {
  expect(sealBox(publicKey, 'this', plain)).toBeUndefined();
});
