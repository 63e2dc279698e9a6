// A provider made of a bare TCP server: it answers with any bytes, so that it can break every rule of the protocol.
import { createHash } from 'node:crypto';
import { createServer, type Server, type Socket } from 'node:net';

const WEBSOCKET_GUID = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11';

/** A server that does what the test says with each connection, from its first byte on. */
export class RawProvider {
  readonly sockets: Socket[] = [];
  private readonly server: Server;
  private whenClosed: (() => void)[] = [];

  constructor(onHead: (socket: Socket, head: string) => void) {
    this.server = createServer((socket) => {
      this.sockets.push(socket);
      let head = '';
      socket.on('data', (data: Buffer) => {
        if (head.endsWith('\r\n\r\n')) return;
        head += data.toString('latin1');
        if (head.endsWith('\r\n\r\n')) onHead(socket, head);
      });
      socket.on('error', () => {});
      socket.on('close', () => {
        for (const tell of this.whenClosed.splice(0)) tell();
      });
    });
  }

  async listen(): Promise<string> {
    await new Promise<void>((resolve) => this.server.listen(0, '127.0.0.1', resolve));
    return `ws://127.0.0.1:${(this.server.address() as { port: number }).port}`;
  }

  /** Resolves when every connection is over. */
  async gone(): Promise<void> {
    while (this.sockets.some((socket) => !socket.closed))
      await new Promise<void>((resolve) => this.whenClosed.push(resolve));
  }

  async close(): Promise<void> {
    for (const socket of this.sockets) socket.destroy();
    await new Promise((resolve) => this.server.close(resolve));
  }
}

/** Answers the handshake as a WebSocket server does. */
export function accept(socket: Socket, head: string): void {
  const key = /sec-websocket-key: (.+)\r\n/i.exec(head)?.[1] ?? '';
  const answer = createHash('sha1')
    .update(key + WEBSOCKET_GUID)
    .digest('base64');
  socket.write(
    `HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${answer}\r\n\r\n`,
  );
}

/** A frame as a server sends it. */
export function frame(opcode: number, payload: Buffer, { fin = true, rsv = 0 } = {}): Buffer {
  const head = Buffer.alloc(10);
  head[0] = (fin ? 0x80 : 0) | rsv | opcode;
  head[1] = 127;
  head.writeBigUInt64BE(BigInt(payload.length), 2);
  return Buffer.concat([head, payload]);
}
