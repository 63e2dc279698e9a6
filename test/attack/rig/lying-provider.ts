// A provider of files that speaks Deepgram's protocol and says of a file what the test wants: its length, and when.
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll } from 'vitest';

export interface LyingProvider {
  url: string;
  /** What it says of the length of every file, as JSON. */
  says: string;
  /** Files that it was given whole. */
  readonly files: number;
  /** Hears of each file when all of it is there, and answers it by `answer`; without it, each is answered at once. */
  onFile: ((answer: () => void) => void) | undefined;
}

const servers: Server[] = [];
afterAll(async () => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
});

export async function startLyingProvider(): Promise<LyingProvider> {
  let files = 0;
  const provider: LyingProvider = {
    url: '',
    says: '1',
    get files() {
      return files;
    },
    onFile: undefined,
  };
  const server = createServer((request, response) => {
    request.resume().once('end', () => {
      files++;
      const answer = () => reply(response, provider.says);
      if (provider.onFile === undefined) answer();
      else provider.onFile(answer);
    });
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  provider.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return provider;
}

function reply(response: ServerResponse, duration: string): void {
  const said = '{"transcript":"what was said","confidence":1,"words":[],"start":0,"end":1}';
  response.setHeader('content-type', 'application/json');
  response.end(
    `{"metadata":{"request_id":"r","duration":${duration}},"results":{"channels":[{"alternatives":[${said}]}],"utterances":[${said}]}}`,
  );
}
