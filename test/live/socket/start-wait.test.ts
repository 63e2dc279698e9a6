// A connection that waits for its start message: for how long and with how much of what is sent, and that whatever it took is
// given back when nothing comes of it.
import { describe, expect, it } from 'vitest';
import type { ServerSocket } from '../../../src/http/server.ts';
import { settle } from '../../fakes/session-rig.ts';
import { listenRig, spoolsOf } from './listen-rig.ts';

const START = Buffer.from('{"type":"start","model":"loopback/script"}');
const text = (value: object) => Buffer.from(JSON.stringify(value));

async function waiting(altered: Parameters<typeof listenRig>[0] = {}) {
  const rig = listenRig({ query: 'start=message', ...altered });
  const handlers = await rig.accepted();
  const told: { type: string; seq: number; error: { code: string; request_id: string; message: string } }[] = [];
  const closes: number[] = [];
  const socket = {
    ping: () => {},
    terminate: () => {},
    send: (event: string) => told.push(JSON.parse(event)),
    close: (code: number) => {
      closes.push(code);
      queueMicrotask(() => handlers.closed(socket, code, ''));
    },
  } as unknown as ServerSocket;
  handlers.open(socket);
  return { ...rig, handlers, socket, told, closes };
}

describe('a connection with `start=message`', () => {
  it('opens its session with the message, and hands over what came before and meanwhile, in order', async () => {
    let admitted = (_: unknown): void => {};
    const openMeter = () => new Promise((resolve) => (admitted = resolve));
    const { handlers, socket, heard } = await waiting({ openMeter });
    handlers.message(socket, new Uint8Array(10), true);
    handlers.message(socket, START, false);
    await settle();
    handlers.message(socket, new Uint8Array(20_000), true);
    handlers.message(socket, text({ type: 'finalize' }), false);
    handlers.message(socket, text({ type: 'what' }), false);
    expect(heard).toEqual([]);
    admitted({ abandon: () => {} });
    await settle();
    handlers.message(socket, new Uint8Array(7), true);
    handlers.message(socket, text({ type: 'close' }), false);
    expect(heard).toEqual([
      'open',
      ...Array(4).fill('audio 4096'),
      'audio 3626',
      'finalize',
      'misunderstood',
      'audio 7',
      'close',
    ]);
    handlers.closed(socket, 1000, '');
    expect(heard.at(-1)).toBe('gone');
  });

  it('fails after ten seconds without one, and releases its slot', async () => {
    const { heard, told, closes, clock } = await waiting();
    clock.increment(9_999);
    expect(told).toEqual([]);
    clock.increment(1);
    await settle();
    expect(told).toMatchObject([{ type: 'error', seq: 1, error: { code: 'request_timeout', request_id: 'req_1' } }]);
    expect([closes, heard]).toEqual([[4008], ['release', 'refused request_timeout', 'release']]);
  });

  it.each<[string, Uint8Array, boolean, string, number]>([
    ['another message first', text({ type: 'close' }), false, 'invalid_request', 4000],
    ['an unknown model', text({ type: 'start', model: 'loopback/nobody' }), false, 'model_not_found', 4004],
    ['a start message too large', text({ type: 'start', model: 'x'.repeat(2_000) }), false, 'message_too_big', 1009],
    ['audio in too large a message', new Uint8Array(1_048_577), true, 'message_too_big', 1009],
  ])('fails for %s, with an event and the close code', async (_, data, isBinary, code, closeCode) => {
    const { handlers, socket, heard, told, closes } = await waiting();
    handlers.message(socket, data, isBinary);
    await settle();
    expect([told.map(({ error }) => error.code), closes]).toEqual([[code], [closeCode]]);
    expect([heard.includes('release'), heard.includes('open')]).toEqual([true, false]);
  });

  it('fails when more audio arrives than it may hold', async () => {
    const { handlers, socket, told } = await waiting({ spools: spoolsOf(65_536) });
    for (let sent = 0; sent < 6; sent++) handlers.message(socket, new Uint8Array(16_384), true);
    await settle();
    expect(told.map(({ error }) => error.code)).toEqual(['audio_backlog_exceeded']);
  });

  it('fails when more messages arrive than it may hold', async () => {
    const { handlers, socket, told } = await waiting({ openMeter: () => new Promise(() => {}) });
    handlers.message(socket, START, false);
    for (let sent = 0; sent < 101; sent++) handlers.message(socket, text({ type: 'keepalive' }), false);
    await settle();
    expect(told.map(({ error }) => error.code)).toEqual(['rate_limit_exceeded']);
  });

  it('holds no slot or money when its client leaves during the wait or admission', async () => {
    const idle = await waiting();
    idle.handlers.closed(idle.socket, 1006, '');
    expect(idle.heard).toEqual(['release']);
    let admitted = (_: unknown): void => {};
    const busy = await waiting({ openMeter: () => new Promise((resolve) => (admitted = resolve)) });
    busy.handlers.message(busy.socket, START, false);
    await settle();
    busy.handlers.closed(busy.socket, 1006, '');
    admitted({ abandon: () => busy.heard.push('abandon') });
    await settle();
    expect([busy.heard.includes('release'), busy.heard.at(-1)]).toEqual([true, 'abandon']);
    expect(busy.heard).not.toContain('open');
  });

  it('holds no slot when its client left before the socket opened', async () => {
    const { accepted, heard } = listenRig({ query: 'start=message' });
    (await accepted()).closed({} as ServerSocket, 1006, '');
    expect(heard).toEqual(['release']);
  });

  it('reports that its session cannot be made, and holds nothing', async () => {
    const { handlers, socket, heard, told } = await waiting({
      open: () => {
        throw new Error('It cannot be made.');
      },
    });
    handlers.message(socket, START, false);
    await settle();
    expect([told.length, heard.includes('abandon'), heard.includes('release')]).toEqual([1, true, true]);
  });
});
