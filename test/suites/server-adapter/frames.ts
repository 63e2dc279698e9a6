// The server adapters' suite, part five: frames that break RFC 6455. Each ends its own connection and nobody else's, and is reported
// as a close without a close frame. What a server lets pass all the same is written down with it.
import { describe, expect, test } from 'vitest';
import { clientFrame, closePayload, OPCODE } from '../../fakes/raw-socket.ts';
import {
  type AdapterUnderTest,
  type Event,
  MESSAGE_BYTES_MAX,
  nextMessage,
  rawSocket,
  recordingHandlers,
  Signal,
  start,
  webSocket,
} from './fixture.ts';

const INVALID_UTF8 = Buffer.from([0xc3, 0x28]);
/** A header that announces a masked binary frame of this many bytes, without any of them. */
function announced(bytes: bigint): Buffer {
  const length = Buffer.alloc(8);
  length.writeBigUInt64BE(bytes);
  return Buffer.concat([Buffer.from([0x82, 0xff]), length, Buffer.alloc(4)]);
}

const BROKEN: readonly [what: string, bytes: Buffer][] = [
  ['text that is not UTF-8', clientFrame(OPCODE.text, INVALID_UTF8)],
  ['text cut inside a character', clientFrame(OPCODE.text, Buffer.from('é').subarray(0, 1))],
  [
    'text that is not UTF-8 over two fragments',
    Buffer.concat([
      clientFrame(OPCODE.text, Buffer.from([0xc3]), { fin: false }),
      clientFrame(OPCODE.continuation, '('),
    ]),
  ],
  ['an RSV1 bit without compression', clientFrame(OPCODE.text, 'x', { rsv: 4 })],
  ['an RSV2 bit', clientFrame(OPCODE.text, 'x', { rsv: 2 })],
  ['an RSV3 bit', clientFrame(OPCODE.binary, 'x', { rsv: 1 })],
  ['reserved opcode 3', clientFrame(3, 'x')],
  ['reserved opcode 7', clientFrame(7)],
  ['reserved control opcode 11', clientFrame(11)],
  ['reserved control opcode 15', clientFrame(15, 'x')],
  ['a fragmented ping', clientFrame(OPCODE.ping, 'x', { fin: false })],
  ['a fragmented close', clientFrame(OPCODE.close, closePayload(1000), { fin: false })],
  ['a ping of 126 bytes', clientFrame(OPCODE.ping, 'x'.repeat(126))],
  ['a close of 126 bytes', clientFrame(OPCODE.close, Buffer.concat([closePayload(1000), Buffer.alloc(124, 'x')]))],
  ['a close code of one byte', clientFrame(OPCODE.close, Buffer.from([3]))],
  ['close code 1005', clientFrame(OPCODE.close, closePayload(1005))],
  ['close code 1006', clientFrame(OPCODE.close, closePayload(1006))],
  ['close code 999', clientFrame(OPCODE.close, closePayload(999))],
  ['a close reason that is not UTF-8', clientFrame(OPCODE.close, Buffer.concat([closePayload(1000), INVALID_UTF8]))],
  ['a continuation of nothing', clientFrame(OPCODE.continuation, 'x')],
  [
    'a new message inside a fragmented one',
    Buffer.concat([clientFrame(OPCODE.text, 'a', { fin: false }), clientFrame(OPCODE.text, 'b')]),
  ],
  ['a frame over twice the limit', announced(BigInt(2 * MESSAGE_BYTES_MAX + 1))],
  ['a frame of 2^63 bytes', announced(1n << 63n)],
  ['a frame without a mask', clientFrame(OPCODE.text, 'unmasked and long enough to be seen', { masked: false })],
  ['HTTP', Buffer.from('GET / HTTP/1.1\r\nHost: a\r\n\r\n')],
];

export function frameSuite(under: AdapterUnderTest): void {
  describe('a connection', () => {
    const refused = BROKEN.filter(([what]) => !under.gaps.framesLetPass?.includes(what));

    test.each(refused)('ends with %s, and no other does', async (_what, bytes) => {
      const events = new Signal<Event>();
      const { port, faults } = await start(under, { upgrade: async () => ({ accept: recordingHandlers(events) }) });
      const other = await webSocket(port);
      const { socket: otherSocket } = await events.next();
      const client = await rawSocket(port);
      await client.handshake('/');
      await events.next();
      client.write(bytes);
      // Some servers say why before they go, and wait for the answer.
      await Promise.race([client.closed, client.frame().catch(() => {})]);
      client.destroy();
      // 1005 where the library takes a broken close frame for one without a code, 1009 where it cuts off what is too large.
      expect(await events.next()).toMatchObject({ type: 'closed', code: expect.toBeOneOf([1005, 1006, 1009]) });
      otherSocket.send('still here');
      expect([await nextMessage(other), events.left, faults]).toEqual(['still here', [], []]);
    });

    // The list of expected failures: what the library takes, it must at least survive.
    test.runIf(under.gaps.framesLetPass).each(BROKEN.filter(([what]) => under.gaps.framesLetPass?.includes(what)))(
      'survives %s (known gap)',
      async (_what, bytes) => {
        const { port, faults } = await start(under);
        const other = await webSocket(port);
        const client = await rawSocket(port);
        await client.handshake('/');
        await client.writeApart([bytes]);
        other.send('still here');
        expect([await nextMessage(other), faults]).toEqual(['still here', []]);
      },
    );

    test('ends at twice the limit of endless fragments', async () => {
      const events = new Signal<Event>();
      const { port } = await start(under, { upgrade: async () => ({ accept: recordingHandlers(events) }) });
      const client = await rawSocket(port);
      await client.handshake('/');
      await events.next();
      const half = Buffer.alloc(MESSAGE_BYTES_MAX);
      client.write(clientFrame(OPCODE.binary, half, { fin: false }));
      for (let piece = 0; piece < 2; piece++) client.write(clientFrame(OPCODE.continuation, half, { fin: false }));
      await Promise.race([client.closed, client.frame().catch(() => {})]);
      client.destroy();
      expect(await events.next()).toMatchObject({ type: 'closed', code: under.gaps.cutsHuge ? 1009 : 1006 });
    });
  });
}
