// A source that is piped into a session that closes, fails or ends while it speaks: what the pipe says, what the iteration says,
// and that no rejection is left to nobody.
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type SessionEvent, Voxgate } from '../../clients/typescript/src/index.ts';
import { type ScriptedSocket, scriptedSockets } from './rig/scripted-socket.ts';

const MODEL = { model: 'loopback/numbered' } as const;
const ENDED = { reason: 'client_closed', audio_seconds: 0, usage: [], cost_usd: '0.00' };
const unhandled: unknown[] = [];
const note = (reason: unknown) => void unhandled.push(reason);
beforeEach(() => {
  unhandled.length = 0;
  process.on('unhandledRejection', note);
});
afterEach(() => {
  process.off('unhandledRejection', note);
});

/** What is left to nobody is told between two turns of the event loop. */
const turns = async () => {
  for (let count = 0; count < 3; count++) await new Promise((resolve) => setImmediate(resolve));
};

/** A session on a socket that is open by now. */
async function opened(answer: (socket: ScriptedSocket) => void = () => {}) {
  const { sockets, webSocket } = scriptedSockets((socket) => socket.start());
  const session = new Voxgate({ token: 'st_a.b', webSocket }).listen({ ...MODEL, reconnect: false });
  const first = await session[Symbol.asyncIterator]().next();
  expect(first.value?.type).toBe('session_started');
  const socket = sockets[0] as ScriptedSocket;
  const { send } = socket;
  socket.send = (data) => {
    send.call(socket, data);
    if (data === '{"type":"close"}') answer(socket);
  };
  return { session, socket };
}

const inOrder = (socket: ScriptedSocket) => {
  socket.say('session_ended', ENDED);
  socket.emit('close', { code: 1000, reason: '' });
};
const failed = (socket: ScriptedSocket) => socket.emit('close', { code: 1011, reason: '' });

async function outcomeOf(session: AsyncIterable<SessionEvent>): Promise<unknown> {
  const types: string[] = [];
  try {
    for await (const { type } of session) types.push(type);
  } catch (error) {
    return error;
  }
  return types;
}

async function* pieces(count: number, then: () => void = () => {}) {
  for (let index = 0; index < count; index++) yield new Uint8Array(320);
  then();
}

describe('an unawaited pipe with `close`', () => {
  it('closes the session behind its source', async () => {
    const { session, socket } = await opened(inOrder);
    expect(await session.pipe(pieces(3), { close: true })).toBe(960);
    expect(await outcomeOf(session)).toEqual(['session_ended']);
    expect(socket.sent.map((data) => data.length)).toEqual([320, 320, 320, '{"type":"close"}'.length]);
  });

  it.each<[string, (socket: ScriptedSocket) => void]>([
    ['while the source speaks', () => {}],
    ['behind its end', failed],
  ])('leaves the failure of a session %s to the iteration', async (when, answer) => {
    const { session, socket } = await opened(answer);
    const speaks = when.startsWith('while') ? () => failed(socket) : undefined;
    void session.pipe(pieces(3, speaks), { close: true });
    expect(await outcomeOf(session)).toMatchObject({ code: 'connection_lost', closeCode: 1011 });
    await turns();
    expect(unhandled).toEqual([]);
  });

  it('ends the session with what its source throws', async () => {
    const { session } = await opened();
    const error = new Error('unplugged');
    const broken = pieces(1, () => {
      throw error;
    });
    void session.pipe(broken, { close: true });
    expect(await outcomeOf(session)).toBe(error);
    await turns();
    expect(unhandled).toEqual([]);
  });

  it('closes in order where its signal ends it', async () => {
    const { session } = await opened(inOrder);
    const controller = new AbortController();
    void session.pipe(
      pieces(1, () => controller.abort()),
      { close: true, signal: controller.signal },
    );
    expect(await outcomeOf(session)).toEqual(['session_ended']);
    await turns();
    expect(unhandled).toEqual([]);
  });
});

it('ends a pipe with its byte count when the session is closed, and its source too', async () => {
  const { session, socket } = await opened();
  let isEnded = false;
  const source = async function* () {
    try {
      yield new Uint8Array(320);
      void session.close();
      yield new Uint8Array(640);
      yield new Uint8Array(640);
    } finally {
      isEnded = true;
    }
  };
  expect(await session.pipe(source())).toBe(320);
  await turns();
  expect(isEnded).toBe(true);
  inOrder(socket);
  expect(await session.close()).toMatchObject({ reason: 'client_closed' });
});
