// Files of a few bytes a part, so that whoever looks through them has as much work as a file of their size can make.

/** A beginning, and one part again and again. */
function filled(bytes: number, beginning: Buffer, part: Buffer): Buffer<ArrayBuffer> {
  const file = Buffer.alloc(bytes);
  beginning.copy(file);
  for (let at = beginning.length; at + part.length <= bytes; at += part.length) part.copy(file, at);
  return file;
}

const element = (id: string, body: Buffer): Buffer =>
  Buffer.concat([Buffer.from(id, 'hex'), Buffer.from([0x40 | (body.length >> 8), body.length & 255]), body]);

/** WebM with Opus, up to its first block; its cluster has no end. */
function webmBeginning(): Buffer {
  const entry = [
    element('d7', Buffer.from([1])),
    element('83', Buffer.from([2])),
    element('86', Buffer.from('A_OPUS')),
  ];
  const tracks = element('1654ae6b', element('ae', Buffer.concat(entry)));
  return Buffer.concat([
    element('1a45dfa3', Buffer.alloc(0)),
    Buffer.from('18538067ff', 'hex'),
    tracks,
    Buffer.from('1f43b675ff', 'hex'),
  ]);
}

/** One of each kind. */
export function slowFiles(bytes: number): Buffer<ArrayBuffer>[] {
  const page = Buffer.alloc(31);
  page.write('OggS');
  page[26] = 255;
  const webm = webmBeginning();
  const blocks = Buffer.from([0xa3, 0x86, 0x81, 0, 0, 0x80, 8, 0]);
  const nothing = Buffer.from([0xec, 0x80]);
  const frames = Buffer.alloc(417 * 3);
  for (let at = 0; at < frames.length; at += 417) frames.writeUInt32BE(0xfffb9000, at);
  return [
    filled(bytes, Buffer.alloc(0), page),
    filled(bytes, webm, blocks),
    filled(bytes, webm, nothing),
    filled(bytes, Buffer.from('\0\0\0\x0cftypM4A ', 'latin1'), Buffer.from('\0\0\0\x08free', 'latin1')),
    filled(bytes, frames, Buffer.from([0xff, 0xf3, 0x14, 0xc0])),
  ];
}
