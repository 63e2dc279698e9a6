// The smallest WAV file there is, for the tests of files.

/** Linear16 at 16 kHz as a WAV file. */
export function wavOf(audio: Uint8Array): Uint8Array {
  const head = Buffer.alloc(44);
  head.write('RIFF', 0);
  head.writeUInt32LE(36 + audio.length, 4);
  head.write('WAVEfmt ', 8);
  head.writeUInt32LE(16, 16);
  head.writeUInt16LE(1, 20);
  head.writeUInt16LE(1, 22);
  head.writeUInt32LE(16_000, 24);
  head.writeUInt32LE(32_000, 28);
  head.writeUInt16LE(2, 32);
  head.writeUInt16LE(16, 34);
  head.write('data', 36);
  head.writeUInt32LE(audio.length, 40);
  return Buffer.concat([head, audio]);
}
