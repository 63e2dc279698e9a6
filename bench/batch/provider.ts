// A provider for benches: takes whatever is sent, as fast as it comes, and answers the same words. It does no work of its own, so
// that what is measured is the way there. `npm run bench -- batch` starts it as a process of its own.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

const OPENAI = JSON.stringify({ text: 'twenty one degrees', usage: { type: 'duration', seconds: 1 } });
const DEEPGRAM = JSON.stringify({
  metadata: { duration: 1 },
  results: { channels: [{ alternatives: [{ transcript: 'twenty one degrees', words: [] }] }] },
});

const server = createServer((request, response) => {
  const body = request.url?.startsWith('/v1/listen') ? DEEPGRAM : OPENAI;
  request.on('end', () => {
    response
      .writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) })
      .end(body);
  });
  request.resume();
});
server.keepAliveTimeout = 60_000;
server.listen(0, '127.0.0.1', () => {
  process.send?.({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` });
});
process.once('disconnect', () => process.exit());
