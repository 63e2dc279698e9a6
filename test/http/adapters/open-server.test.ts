// Which server is opened: uWebSockets.js where it can be trusted, node:http otherwise, with one reason; or the one asked for.
import { writeFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { join } from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import { openNodeServer } from '../../../src/http/node/server.ts';
import { openServer, reasonAgainstUws, splitRequestFault } from '../../../src/http/open-server.ts';
import type { HttpServer, HttpServerOptions, OpenServer, ServerHandlers } from '../../../src/http/server.ts';
import { missingBinary } from '../../../src/http/uws/library.ts';
import { temporaryDirectory } from '../../fakes/temporary-directory.ts';

const handlers: ServerHandlers = {
  request: async () => ({ status: 200 }),
  upgrade: async () => ({ refuse: { status: 404 } }),
};
const options: HttpServerOptions = {
  host: '127.0.0.1',
  port: 0,
  headerBytesMax: 8192,
  messageBytesMax: 1024,
  headerTimeoutMs: 1000,
  onFault: () => ({ status: 500 }),
};

describe('openServer', () => {
  test('takes uWebSockets.js where it can be trusted, and says why where it cannot', async () => {
    const reason = await reasonAgainstUws();
    const onFallback = vi.fn();
    const server = await openServer('auto', handlers, options, onFallback);
    await server.close();
    expect(server.name).toBe(reason === undefined ? 'uws' : 'node');
    const isExpected = reason !== undefined && /has no binary for Node|is not installed/.test(reason);
    expect(onFallback.mock.calls).toEqual(reason === undefined ? [] : [[reason, isExpected]]);
    expect(reason ?? 'None.').toMatch(/\.$/);
  });

  test('takes node:http when it is requested, without a notice', async () => {
    const onFallback = vi.fn();
    const server = await openServer('node', handlers, options, onFallback);
    await server.close();
    expect([server.name, onFallback.mock.calls]).toEqual(['node', []]);
  });

  test('takes uWebSockets.js when it is requested, or rejects with the reason', async () => {
    const outcome = await openServer('uws', handlers, options, () => {}).catch((error: Error) => error);
    if (outcome instanceof Error)
      expect(outcome.message).toMatch(/^uWebSockets\.js (?:has no binary|is not installed).*\.$/);
    else {
      await outcome.close();
      expect(outcome.name).toBe('uws');
    }
  });
});

describe('the search for a binary of uWebSockets.js', () => {
  const system = {
    ...process,
    platform: 'linux',
    arch: 'x64',
    version: 'v26.12.1',
    versions: { modules: '147' },
  } as const;
  const missing = (folder: string | undefined) => missingBinary(folder, system as unknown as NodeJS.Process)?.message;

  test('names the version of Node and the system that have none', () => {
    expect(missing(temporaryDirectory())).toBe('uWebSockets.js has no binary for Node 26.12.1 on linux-x64.');
    expect(missing(undefined)).toBe('uWebSockets.js is not installed.');
  });

  test('finds one that is there, whether it loads or not', () => {
    const folder = temporaryDirectory();
    writeFileSync(join(folder, 'uws_linux_x64_147.node'), 'not a library');
    expect(missing(folder)).toBe(undefined);
  });
});

describe('the check for requests in two segments', () => {
  test('finds no fault with a server that reads them', async () => {
    expect(await splitRequestFault(openNodeServer)).toBe(undefined);
  });

  test('finds the fault of one that answers 505, and closes it', async () => {
    let closed = false;
    const impatient: OpenServer = () =>
      new Promise((resolve) => {
        // Answers by the first segment alone.
        const server = createServer((socket) => {
          socket.on('error', () => {});
          socket.once('data', (bytes) => {
            socket.end(
              /HTTP\/1\.1\r\n/.test(bytes.toString()) ? 'HTTP/1.1 204 No Content\r\n\r\n' : 'HTTP/1.1 505 No\r\n\r\n',
            );
          });
        });
        server.listen(0, '127.0.0.1', () => {
          const close = async () => {
            closed = true;
            server.close();
          };
          resolve({
            name: 'uws',
            port: (server.address() as { port: number }).port,
            stopListening: () => {},
            close,
          } satisfies HttpServer);
        });
      });
    expect([await splitRequestFault(impatient), closed]).toEqual([expect.stringContaining('TCP segment'), true]);
  });

  test('leaves no port open', async () => {
    const ports: number[] = [];
    await splitRequestFault(async (...given) => {
      const server = await openNodeServer(...given);
      ports.push(server.port);
      return server;
    });
    const reached = new Promise((resolve, reject) =>
      connect(ports[0]!, '127.0.0.1', () => resolve('open')).on('error', reject),
    );
    await expect(reached).rejects.toThrow('ECONNREFUSED');
  });
});
