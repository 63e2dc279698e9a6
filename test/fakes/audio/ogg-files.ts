// Ogg files built by hand, of packets that say how long they sound and hold nothing.

const SEGMENTS_MAX = 255;

export interface PageShape {
  serial?: number;
  granule?: bigint;
  begins?: boolean;
}

/** A page of whole packets, each of less than 255 bytes. */
export function oggPage(packets: readonly Uint8Array[], shape: PageShape = {}): Buffer {
  const head = Buffer.alloc(27 + packets.length);
  head.write('OggS', 0);
  head[5] = shape.begins === true ? 2 : 0;
  head.writeBigInt64LE(shape.granule ?? 0n, 6);
  head.writeUInt32LE(shape.serial ?? 1, 14);
  head[26] = packets.length;
  for (const [index, packet] of packets.entries()) head[27 + index] = packet.length;
  return Buffer.concat([head, ...packets]);
}

/** Its first page, and pages of packets. */
export function oggStream(headers: readonly Uint8Array[], packets: readonly Uint8Array[], serial = 1): Buffer[] {
  const [first, ...others] = headers as [Uint8Array, ...Uint8Array[]];
  const pages = [oggPage([first], { serial, begins: true })];
  if (others.length > 0) pages.push(oggPage(others, { serial }));
  for (let at = 0; at < packets.length; at += SEGMENTS_MAX) {
    pages.push(oggPage(packets.slice(at, at + SEGMENTS_MAX), { serial }));
  }
  return pages;
}

/** @param toc the first bytes of each packet */
export function opusOgg(packets: number, toc: readonly number[], serial = 1): Buffer[] {
  const head = Buffer.alloc(19);
  head.write('OpusHead', 0);
  head[8] = 1;
  head[9] = 1;
  head.writeUInt32LE(48_000, 12);
  const tags = Buffer.concat([Buffer.from('OpusTags'), Buffer.alloc(8)]);
  const packet = Uint8Array.from([...toc, 0, 0]);
  return oggStream([head, tags], Array<Uint8Array>(packets).fill(packet), serial);
}

/** @param framesPerPacket of 20 ms each */
export function speexOgg(packets: number, framesPerPacket: number): Buffer {
  const head = Buffer.alloc(80);
  head.write('Speex   ', 0);
  head.writeUInt32LE(16_000, 36);
  head.writeUInt32LE(1, 48);
  head.writeUInt32LE(320, 56);
  head.writeUInt32LE(framesPerPacket, 64);
  return Buffer.concat(oggStream([head], Array<Uint8Array>(packets).fill(new Uint8Array(20))));
}
