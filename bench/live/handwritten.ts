// What a team writes first: a relay of `ws` to `ws`, one frame up for each frame of the client.
import type { AddressInfo } from 'node:net';
import WebSocket, { WebSocketServer } from 'ws';

const upstreamUrl = process.argv[2] as string;
const server = new WebSocketServer({ host: '127.0.0.1', port: 0, perMessageDeflate: false });

server.on('connection', (client) => {
  const upstream = new WebSocket(upstreamUrl, { perMessageDeflate: false });
  const waiting: Buffer[] = [];
  upstream.on('open', () => {
    for (const frame of waiting.splice(0)) upstream.send(frame);
  });
  client.on('message', (data: Buffer, isBinary) => {
    if (upstream.readyState === WebSocket.OPEN) upstream.send(data, { binary: isBinary });
    else if (upstream.readyState === WebSocket.CONNECTING) waiting.push(data);
  });
  upstream.on('message', (data: Buffer, isBinary) => client.send(data, { binary: isBinary }));
  upstream.on('close', () => client.close());
  upstream.on('error', () => client.close());
  client.on('close', () => upstream.close());
  client.on('error', () => upstream.close());
});
server.on('listening', () => process.send?.({ port: (server.address() as AddressInfo).port }));
process.once('disconnect', () => process.exit());
