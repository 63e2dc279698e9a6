// A long message is taken by steps: other sockets are heard in between, and what the same client sends behind it waits for its turn.
import { describe, expect, it } from 'vitest';
import type { SocketHandlers } from '../../../src/http/server.ts';
import { STEP_BYTES, WaitingWork } from '../../../src/live/socket/socket-work.ts';
import { settle } from '../../fakes/session-rig.ts';
import { listenRig, socket, spoolsOf } from './listen-rig.ts';

const STEPS = 12;
const LONG = STEPS * STEP_BYTES;
const step = `audio ${STEP_BYTES}`;
const CLOSE = Buffer.from('{"type":"close"}');
const turnOfTheLoop = () => new Promise((resolve) => setImmediate(resolve));

const rigOf = (altered: Parameters<typeof listenRig>[0] = {}) => listenRig({ binaryFrameBytesMax: LONG, ...altered });
type Rig = ReturnType<typeof rigOf>;

async function opened(rig: Rig): Promise<SocketHandlers> {
  const handlers = await rig.accepted();
  handlers.open(socket);
  rig.heard.length = 0;
  return handlers;
}

async function settled({ heard }: Rig): Promise<string[]> {
  for (let before = -1; before < heard.length; ) {
    before = heard.length;
    await turnOfTheLoop();
  }
  return heard;
}

describe('a message over 1 MiB', () => {
  it('lets other sockets run between its steps, and keeps its client’s order', async () => {
    const rig = rigOf();
    const [long, other] = [await opened(rig), await opened(rig)];
    long.message(socket, new Uint8Array(LONG), true);
    long.message(socket, new Uint8Array(5), true);
    long.message(socket, CLOSE, false);
    long.closed(socket, 1000, '');
    other.message(socket, new Uint8Array(7), true);
    expect(rig.heard).toEqual([step, 'audio 7']);
    await turnOfTheLoop();
    other.message(socket, new Uint8Array(9), true);
    expect(rig.heard).toEqual([step, 'audio 7', step, 'audio 9']);
    const rest = Array.from({ length: STEPS - 2 }, () => step);
    expect((await settled(rig)).slice(4)).toEqual([...rest, 'audio 5', 'close', 'gone']);
  });

  it('takes turns with those of other sockets', async () => {
    const rig = rigOf();
    const [one, two] = [await opened(rig), await opened(rig)];
    one.message(socket, new Uint8Array(LONG), true);
    two.message(socket, new Uint8Array(LONG - 2 * STEPS), true);
    await turnOfTheLoop();
    await turnOfTheLoop();
    expect(rig.heard).toHaveLength(4);
    expect(await settled(rig)).toHaveLength(2 * STEPS);
  });

  it('runs whole when too much waits already, and holds nothing afterwards', async () => {
    const waiting = new WaitingWork(2 * LONG);
    const rig = rigOf({ waiting });
    const handlers = await opened(rig);
    handlers.message(socket, new Uint8Array(LONG), true);
    expect(rig.heard).toHaveLength(STEPS);
    expect(waiting.bytes).toBe(0);
    handlers.message(socket, new Uint8Array(LONG / 2), true);
    handlers.message(socket, new Uint8Array(LONG / 2 + 1).subarray(1), true);
    expect(rig.heard).toHaveLength(2 * STEPS);
    handlers.message(socket, new Uint8Array(LONG / 2), true);
    expect(waiting.bytes).toBeGreaterThan(0);
    await settled(rig);
    expect([waiting.bytes, rig.heard.length]).toEqual([0, 2.5 * STEPS]);
  });

  it('comes before its session is open, and is handed over by steps, before what comes later', async () => {
    const spools = spoolsOf();
    const rig = rigOf({ query: 'start=message', spools });
    const handlers = await rig.accepted();
    handlers.open(socket);
    handlers.message(socket, new Uint8Array(LONG), true);
    handlers.message(socket, Buffer.from('{"type":"start","model":"loopback/script"}'), false);
    handlers.message(socket, new Uint8Array(5), true);
    while (!rig.heard.includes('open')) await turnOfTheLoop();
    handlers.message(socket, new Uint8Array(7), true);
    expect(rig.heard.length).toBeLessThan(LONG / 16_384);
    await settled(rig);
    await settle();
    const sizes = rig.heard.filter((word) => word.startsWith('audio')).map((word) => Number(word.slice(6)));
    expect(sizes.reduce((sum, bytes) => sum + bytes)).toBe(LONG + 5 + 7);
    expect(sizes.at(-1)).toBe(7);
    expect(spools.bytes).toBe(0);
  });

  it('ends its session where a piece of it cannot be taken, and nothing waits afterwards', async () => {
    const waiting = new WaitingWork();
    const faults: unknown[] = [];
    const session = {
      audio: () => {
        throw new Error('The disk is gone.');
      },
      fault: (name: string, error: unknown) => faults.push(name, error),
    };
    const handlers = await opened(rigOf({ waiting, open: () => session }));
    handlers.message(socket, new Uint8Array(LONG), true);
    expect(faults).toEqual(['audio', new Error('The disk is gone.')]);
    expect(waiting.bytes).toBe(0);
  });
});
