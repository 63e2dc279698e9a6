// The socket that both servers share, over a library that misbehaves: what is bounded by time, and what a library throws.
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { GuardedSocket, truncateReason } from '../../../src/http/guarded-socket.ts';
import type { SocketHandlers } from '../../../src/http/server.ts';

/** A library whose queue is a number, and which throws on demand. */
class FakeSocket extends GuardedSocket {
  queued = 0;
  throws = false;
  readonly calls: string[] = [];

  protected override write(text: string): boolean {
    this.#called(`write ${text}`);
    return true;
  }
  protected override writePing(): void {
    this.#called('ping');
  }
  protected override queuedBytes(): number {
    if (this.throws) throw new Error('gone');
    return this.queued;
  }
  protected override end(code: number, reason: string): void {
    this.#called(`end ${code} ${reason}`);
  }
  protected override cut(): void {
    this.#called('cut');
  }
  drainTo(bytes: number): void {
    this.queued = bytes;
    this.flushed();
  }
  #called(call: string): void {
    this.calls.push(call);
    if (this.throws) throw new Error('gone');
  }
}

describe('a socket', () => {
  let events: string[];
  let socket: FakeSocket;

  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    events = [];
    const handlers: SocketHandlers = {
      open: () => events.push('open'),
      message: () => events.push('message'),
      pong: () => events.push('pong'),
      drained: () => events.push('drained'),
      closed: (_, code, reason) => events.push(`closed ${code} ${reason}`),
    };
    socket = new FakeSocket(handlers, (error) => events.push(`fault ${error}`));
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  test('closes at once with nothing queued', async () => {
    socket.close(1000, 'bye');
    expect(socket.calls).toEqual(['end 1000 bye']);
    await Promise.resolve();
    expect(events).toEqual(['closed 1000 bye']);
  });

  test('closes after its queue has left', async () => {
    socket.queued = 10;
    socket.close(4001, 'bye');
    socket.close(4002, 'again');
    socket.drainTo(5);
    expect(socket.calls).toEqual([]);
    socket.drainTo(0);
    await Promise.resolve();
    expect([socket.calls, events]).toEqual([['end 4001 bye'], ['closed 4001 bye']]);
  });

  test('closes with 1006 when its queue does not leave within 10 s', async () => {
    socket.queued = 10;
    socket.close(4011, 'slow_consumer');
    vi.advanceTimersByTime(9_999);
    expect(socket.calls).toEqual([]);
    vi.advanceTimersByTime(1);
    await Promise.resolve();
    expect([socket.calls, events, vi.getTimerCount()]).toEqual([['cut'], ['closed 1006 '], 0]);
  });

  test('reports a drain only when all of its queue has left', () => {
    socket.queued = 10;
    expect(socket.send('x')).toBe('queued');
    socket.drainTo(1);
    expect(events).toEqual([]);
    socket.drainTo(0);
    expect(events).toEqual(['drained']);
  });

  test('never throws on a library that throws', () => {
    socket.throws = true;
    expect([socket.send('x'), socket.bufferedBytes]).toEqual(['gone', 0]);
    socket.ping();
    socket.close(1000, '');
    socket.terminate();
    expect(socket.closed).toBe(true);
  });
});

test.each([
  ['', ''],
  ['short', 'short'],
  ['a'.repeat(124), 'a'.repeat(123)],
  [`${'a'.repeat(122)}é`, 'a'.repeat(122)],
  [`${'a'.repeat(120)}😀`, 'a'.repeat(120)],
])('truncates the reason %s to 123 bytes, between characters', (reason, expected) => {
  expect(truncateReason(reason)).toBe(expected);
});
