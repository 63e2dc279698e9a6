// Whether a door reads a request whose first line arrives in pieces. Some builds of uWebSockets.js answer 505 to it: on a
// real network that is every long URL, now and then. Asked once, before such a build is trusted.
import { connect } from 'node:net';
import type { OpenDoor } from '../door.ts';

const LINE = 'GET /split?check=1 HTTP/1.1\r\n';
const HOST = 'Host: localhost\r\nConnection: close\r\n\r\n';
/** Inside the URL, in front of it, and inside the version. */
const SPLITS = [LINE.indexOf('lit'), LINE.indexOf('/'), LINE.indexOf('1.1')];
/** Between the pieces, so that the door reads the first before the second is sent. */
const PAUSE_MS = 20;
const ANSWER_MS_MAX = 2_000;

/** The fault in one sentence; undefined when the door reads such requests. */
export async function splitRequestFault(open: OpenDoor): Promise<string | undefined> {
  const door = await open(
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
  const answers = await Promise.all(SPLITS.map((at) => askInTwo(door.port, at)));
  await door.close();
  if (answers.every((answer) => answer.startsWith('HTTP/1.1 204'))) return undefined;
  return 'This build of uWebSockets.js refuses requests whose URL arrives in more than one TCP segment.';
}

/** What the door answers to a request in two pieces; what has arrived by the deadline, if it does not answer. */
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
