// The elements of WebM and Matroska: what one is, and where it ends. RFC 8794.

/** An identifier of four bytes and a size of eight. */
export const ELEMENT_HEAD_BYTES = 12;

export interface Element {
  id: number;
  headBytes: number;
  /** Undefined where the writer did not know it yet. */
  bytes: number | undefined;
}

/** The head of an element; undefined where there is none. */
export function elementOf(head: Uint8Array): Element | undefined {
  const idBytes = lengthOfNumber(head[0] ?? 0);
  const first = head[idBytes];
  if (idBytes > 4 || first === undefined) return undefined;
  const sizeBytes = lengthOfNumber(first);
  const headBytes = idBytes + sizeBytes;
  if (sizeBytes > 8 || headBytes > head.length) return undefined;
  // No array is made on the way: a file may have millions of elements.
  let id = 0;
  for (let at = 0; at < idBytes; at++) id = id * 256 + head[at]!;
  const most = 0xff >> sizeBytes;
  let bytes = first & most;
  // All ones: not known yet.
  let isOpen = bytes === most;
  for (let at = idBytes + 1; at < headBytes; at++) {
    bytes = bytes * 256 + head[at]!;
    isOpen &&= head[at] === 0xff;
  }
  if (isOpen) return { id, headBytes, bytes: undefined };
  return Number.isSafeInteger(bytes) ? { id, headBytes, bytes } : undefined;
}

/** The elements inside one; what does not fit is cut off. */
export function* elementsOf(body: Uint8Array): Generator<{ id: number; body: Uint8Array }> {
  for (let at = 0; at < body.length; ) {
    const element = elementOf(body.subarray(at, at + ELEMENT_HEAD_BYTES));
    if (element?.bytes === undefined) return;
    const bodyAt = at + element.headBytes;
    yield { id: element.id, body: body.subarray(bodyAt, bodyAt + element.bytes) };
    at = bodyAt + element.bytes;
  }
}

/** Of a number that says so itself, by the zeros in front; 9 of one that cannot be. */
export const lengthOfNumber = (first: number): number => Math.clz32(first) - 23;

/** A number without what says its length. */
export const variableOf = (bytes: Uint8Array): number =>
  numberOf(Uint8Array.of((bytes[0] ?? 0) & (0xff >> bytes.length), ...bytes.subarray(1)));

export const numberOf = (bytes: Uint8Array): number => bytes.reduce((number, byte) => number * 256 + byte, 0);
