// The boxes of MP4 and M4A: where one ends, and what is in it. ISO/IEC 14496-12.
import { textAt, viewOf } from './scan.ts';

export const BOX_HEAD_BYTES = 16;

export interface Box {
  type: string;
  body: Uint8Array;
}

/** @param left bytes from the box on to the end of what holds it */
export function boxHead(head: Uint8Array, left: number): { type: string; headBytes: number; bytes: number } {
  if (head.length < 8) return { type: '', headBytes: 1, bytes: 0 };
  const view = viewOf(head);
  const short = view.getUint32(0);
  const type = textAt(head, 4, 4);
  if (short === 1) {
    const bytes = head.length < BOX_HEAD_BYTES ? 0 : Number(view.getBigUint64(8));
    return { type, headBytes: BOX_HEAD_BYTES, bytes };
  }
  return { type, headBytes: 8, bytes: short === 0 ? left : short };
}

/** The boxes inside one; what does not fit is cut off. */
export function* boxesOf(body: Uint8Array | undefined): Generator<Box> {
  if (body === undefined) return;
  for (let at = 0; at + 8 <= body.length; ) {
    const { type, headBytes, bytes } = boxHead(body.subarray(at, at + BOX_HEAD_BYTES), body.length - at);
    if (bytes < headBytes) return;
    yield { type, body: body.subarray(at + headBytes, at + bytes) };
    at += bytes;
  }
}

/** The first box of a type, of each in turn. */
export function inside(body: Uint8Array | undefined, ...types: string[]): Uint8Array | undefined {
  let found = body;
  for (const type of types) {
    let next: Uint8Array | undefined;
    for (const box of boxesOf(found)) {
      if (box.type !== type) continue;
      next = box.body;
      break;
    }
    found = next;
  }
  return found;
}

/** A number of a box; 0 where the box is cut off. */
export const wordAt = (body: Uint8Array | undefined, at: number): number =>
  body === undefined || body.length < at + 4 ? 0 : viewOf(body).getUint32(at);
