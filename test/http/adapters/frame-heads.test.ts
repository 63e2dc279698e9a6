// What is read of frames before they are whole: the same wherever the network cuts them.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { FrameHeads } from '../../../src/http/node/socket.ts';
import { clientFrame, OPCODE } from '../../fakes/raw-socket.ts';

const lengths = fc.constantFrom<number>(0, 1, 125, 126, 200, 65_535, 65_536, 70_000);
const messages = fc.array(
  fc.record({ isBinary: fc.boolean(), pieces: fc.array(lengths, { minLength: 1, maxLength: 5 }), ping: fc.boolean() }),
  { minLength: 1, maxLength: 5 },
);

test('parses frames the same at every cut', () => {
  fc.assert(
    fc.property(messages, fc.integer({ min: 1, max: 9_000 }), (all, step) => {
      const bytes = Buffer.concat(
        all.flatMap(({ isBinary, pieces, ping }) =>
          pieces.flatMap((length, index) => [
            clientFrame(
              index > 0 ? OPCODE.continuation : isBinary ? OPCODE.binary : OPCODE.text,
              Buffer.alloc(length),
              {
                fin: index === pieces.length - 1,
              },
            ),
            ...(ping ? [clientFrame(OPCODE.ping, 'between')] : []),
          ]),
        ),
      );
      const heads = new FrameHeads();
      const seen = new Set<number>();
      for (let at = 0; at < bytes.length; at += step) {
        heads.read(bytes.subarray(at, at + step));
        seen.add(heads.messageBytes);
      }
      const sums = all.flatMap(({ pieces }) =>
        pieces.map((_, index) => pieces.slice(0, index + 1).reduce((a, b) => a + b)),
      );
      expect([...seen].filter((bytesSeen) => bytesSeen !== 0 && !sums.includes(bytesSeen))).toEqual([]);
      expect(heads.takePieces()).toBe(all.reduce((count, { pieces }) => count + pieces.length - 1, 0));
      expect([heads.messageBytes, heads.takePieces()]).toEqual([0, 0]);
    }),
    { numRuns: 60 },
  );
});

test('reports length and kind of a message with its first bytes', () => {
  const heads = new FrameHeads();
  heads.read(clientFrame(OPCODE.binary, Buffer.alloc(3_000_000)).subarray(0, 14));
  expect([heads.messageBytes, heads.isBinary]).toEqual([3_000_000, true]);
});
