// Which of the two servers a process opens. The fast one needs a binary for this machine that reads every request whole: some builds of
// uWebSockets.js answer 505 to a request whose first line arrives in pieces, which on a real network is every long URL, now and then.
// Where there is none, the other takes over and one sentence says why.

import { connect } from 'node:net';
import { openNodeServer } from './node/server.ts';
import type { HttpServer, HttpServerOptions, OpenServer, ServerHandlers } from './server.ts';
import { NoUwsBinary } from './uws/library.ts';
import { openUwsServer } from './uws/server.ts';

export type ServerChoice = 'auto' | 'uws' | 'node';

/**
 * Opens a server. `auto` takes uWebSockets.js where it can be trusted and node:http otherwise, and then calls `onFallback`
 * once with the reason, which is expected where no binary exists for the system and the version of Node. Rejects with an Error of
 * one sentence when the server, or its address, cannot be had.
 */
export async function openServer(
  choice: ServerChoice,
  handlers: ServerHandlers,
  options: HttpServerOptions,
  onFallback: (reason: string, isExpected: boolean) => void,
): Promise<HttpServer> {
  if (choice === 'uws') return openUwsServer(handlers, options);
  const fault = choice === 'auto' ? await uwsFault() : undefined;
  if (choice === 'auto' && fault === undefined) return openUwsServer(handlers, options);
  if (fault !== undefined) onFallback(fault.message, fault instanceof NoUwsBinary);
  return openNodeServer(handlers, options);
}

/** Asked once: neither the build nor the machine changes under a process. */
let verdict: Promise<Error | undefined> | undefined;

function uwsFault(): Promise<Error | undefined> {
  verdict ??= splitRequestFault(openUwsServer).then(
    (fault) => (fault === undefined ? undefined : new Error(fault)),
    (error: Error) => error,
  );
  return verdict;
}

/** Why uWebSockets.js cannot be used here, in one sentence; undefined when it can. */
export async function reasonAgainstUws(): Promise<string | undefined> {
  return (await uwsFault())?.message;
}

const LINE = 'GET /split?check=1 HTTP/1.1\r\n';
const HOST = 'Host: localhost\r\nConnection: close\r\n\r\n';
/** Inside the URL, in front of it, and inside the version. */
const SPLITS = [LINE.indexOf('lit'), LINE.indexOf('/'), LINE.indexOf('1.1')];
/** Between the pieces, so that the server reads the first before the second is sent. */
const PAUSE_MS = 20;
const ANSWER_MS_MAX = 2_000;

/** The fault in one sentence; undefined when the server reads such requests. */
export async function splitRequestFault(open: OpenServer): Promise<string | undefined> {
  const server = await open(
    { request: async () => ({ status: 204 }), upgrade: async () => ({ refuse: { status: 404 } }) },
    {
      host: '127.0.0.1',
      port: 0,
      headerBytesMax: 8192,
      messageBytesMax: 1024,
      headerTimeoutMs: 1000,
      onFault: () => ({ status: 500 }),
    },
  );
  const answers = await Promise.all(SPLITS.map((at) => askInTwo(server.port, at)));
  await server.close();
  if (answers.every((answer) => answer.startsWith('HTTP/1.1 204'))) return undefined;
  return 'This build of uWebSockets.js refuses requests whose URL arrives in more than one TCP segment.';
}

/** What the server answers to a request in two pieces; what has arrived by the deadline, if it does not answer. */
function askInTwo(port: number, at: number): Promise<string> {
  return new Promise((resolve) => {
    let answer = '';
    const socket = connect(port, '127.0.0.1', () => {
      socket.setNoDelay(true);
      socket.write(LINE.slice(0, at));
      setTimeout(() => socket.write(LINE.slice(at) + HOST), PAUSE_MS);
    });
    socket.setTimeout(ANSWER_MS_MAX, () => socket.destroy());
    socket.on('data', (chunk) => {
      answer += chunk.toString('latin1');
    });
    socket.on('error', () => {});
    socket.on('close', () => resolve(answer));
  });
}
