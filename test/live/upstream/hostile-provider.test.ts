// Providers that refuse, hang, flood and fall silent at the level of the socket: each is a failure with a name, within its
// deadline and its bounds, and leaves no socket.
import type { Socket } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { SimulatedClock } from 'xstate';
import type { LegFailure, LegReport, OpenLeg } from '../../../machines/events.ts';
import { UpstreamHost } from '../../../src/live/upstream/upstream-host.ts';
import { openWire } from '../../../src/live/upstream/wire/open-wire.ts';
import type { Wire } from '../../../src/live/upstream/wire/wire.ts';
import { systemClock } from '../../../src/runtime/telemetry/clock.ts';
import { loopback } from '../../../src/vendors/loopback/index.ts';
import { WireLog } from '../../suites/wire.suite.ts';
import { accept, frame, RawProvider } from './raw-provider.ts';

const open: { close(): Promise<void> }[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((each) => each.close()));
});

async function provider(onHead: (socket: Socket, head: string) => void): Promise<{ url: string; raw: RawProvider }> {
  const raw = new RawProvider(onHead);
  open.push(raw);
  return { url: await raw.listen(), raw };
}

const request: OpenLeg = {
  type: 'leg.open',
  session: '',
  sessionId: 'ses_1',
  generation: 1,
  slug: 'loopback/script',
  sampleRate: 16_000,
  language: null,
  interimResults: true,
  diarization: false,
  params: {},
  credentialId: 'service',
  organisationId: 'org_1',
};

/** The failure of a leg to that URL. */
async function failureOf(url: string, clock = systemClock): Promise<LegFailure> {
  const upstream = new UpstreamHost({
    providers: new Map([['loopback', loopback]]),
    engines: {},
    access: () => ({ baseUrl: url, credential: undefined }),
    clock,
  });
  const report = await new Promise<LegReport>((resolve) => upstream.open('leg.1', request, resolve));
  expect(upstream.size).toBe(0);
  if (report.type !== 'leg.failed') throw new Error(`The leg did not fail: ${report.type}.`);
  return report.failure;
}

/** A wire to that URL, by a clock that stands still. */
function wireTo(url: string): { wire: Wire; log: WireLog; clock: SimulatedClock } {
  const log = new WireLog();
  const clock = new SimulatedClock();
  return { log, clock, wire: openWire({ kind: 'websocket', url, headers: {} }, {}, log, clock) };
}

it('fails the leg of a provider that sends endless messages', async () => {
  const { url, raw } = await provider((socket, head) => {
    accept(socket, head);
    socket.write(Buffer.concat(Array.from({ length: 5_000 }, () => frame(1, Buffer.from('{"type":"unknown"}')))));
  });
  expect(await failureOf(url)).toMatchObject({ kind: 'next', reason: 'upstream_error', code: 'bad_response' });
  await raw.gone();
});

describe('a provider that cannot be reached', () => {
  it.each([
    [401, 'account'],
    [402, 'account'],
    [403, 'account'],
    [404, 'next', 'lasting'],
    [429, 'next'],
    [500, 'retry'],
    [503, 'retry'],
    [200, 'next', 'lasting'],
    [302, 'next', 'lasting'],
  ])('because it answers %d is a connect failure of kind %s', async (status, kind, lasts = '') => {
    const { url, raw } = await provider((socket) => {
      socket.write(`HTTP/1.1 ${status} No\r\nLocation: ws://127.0.0.1:1/\r\nContent-Length: 1000000\r\n\r\nsecret`);
    });
    expect(await failureOf(url)).toEqual({
      kind,
      reason: 'connect_failed',
      code: `http_${status}`,
      message: `The provider answered with HTTP ${status}.`,
      ...(lasts === '' ? {} : { lasting: true }),
    });
    await raw.gone();
  });

  it.each<[string, (socket: Socket, head: string) => void]>([
    ['it hangs up', (socket) => void socket.destroy()],
    ['it says goodbye', (socket) => void socket.end()],
    ['it speaks another protocol', (socket) => void socket.write('SSH-2.0-x\r\n\r\n')],
    ['its headers are endless', (socket) => void socket.write(`HTTP/1.1 101 Yes\r\nX: ${'x'.repeat(100_000)}\r\n\r\n`)],
    [
      'its accept key is wrong',
      (socket) =>
        void socket.write(
          'HTTP/1.1 101 Yes\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: x\r\n\r\n',
        ),
    ],
    [
      'it insists on an extension',
      (socket, head) =>
        accept(
          {
            write: (text: string) =>
              socket.write(text.replace('\r\n\r\n', '\r\nSec-WebSocket-Extensions: permessage-deflate\r\n\r\n')),
          } as never,
          head,
        ),
    ],
  ])('because %s is a connect failure', async (_, onHead) => {
    const { url, raw } = await provider(onHead);
    expect(await failureOf(url)).toMatchObject({ kind: 'next', reason: 'connect_failed', code: 'handshake_failed' });
    await raw.gone();
  });

  it('causes a connect failure without an address when the port is closed', async () => {
    const { url, raw } = await provider(() => {});
    await raw.close();
    open.splice(0);
    const failure = await failureOf(url);
    expect(failure).toMatchObject({ kind: 'next', reason: 'connect_failed', code: 'unreachable' });
    expect(failure.message).toBe('The provider could not be reached (ECONNREFUSED).');
  });

  it('causes an internal fault when its URL is invalid', async () => {
    expect(await failureOf('not a url')).toMatchObject({ kind: 'next', code: 'internal_fault' });
  });

  it('because it never answers the handshake fails at the deadline, and not before', async () => {
    const clock = new SimulatedClock();
    const dialled = new Promise<void>((resolve) => {
      void provider(() => resolve()).then(async ({ url, raw }) => {
        failure = failureOf(url, clock);
        gone = () => raw.gone();
      });
    });
    let failure: Promise<LegFailure> | undefined;
    let gone = async () => {};
    await dialled;
    clock.increment(4_999);
    let early = true;
    void failure?.then(() => {
      early = false;
    });
    await new Promise((resolve) => setImmediate(resolve));
    expect(early).toBe(true);
    clock.increment(1);
    expect(await failure).toMatchObject({ reason: 'connect_timeout', code: 'connect_timeout' });
    await gone();
  });
});

describe('a provider that says what it should not', () => {
  it.each<[string, Buffer[], number]>([
    ['a message of more than 1 MiB', [frame(1, Buffer.alloc(1_048_577, 32))], 1006],
    [
      'more than 64 fragments',
      Array.from({ length: 66 }, (_, i) => frame(i === 0 ? 1 : 0, Buffer.from(' '), { fin: false })),
      1006,
    ],
    ['a compressed message', [frame(1, Buffer.from('{}'), { rsv: 0x40 })], 1006],
    ['a reserved opcode', [frame(3, Buffer.alloc(0))], 1006],
    ['text that is not UTF-8', [frame(1, Buffer.from([0xff, 0xfe]))], 1006],
    ['a length beyond all bounds', [Buffer.concat([Buffer.from([0x81, 127]), Buffer.alloc(8, 0x7f)])], 1006],
    ['a close code that may not be sent', [frame(8, Buffer.from([3, 237]))], 1006],
  ])('%s is cut off', async (_, frames, code) => {
    const { url, raw } = await provider((socket, head) => {
      accept(socket, head);
      for (const each of frames) socket.write(each);
    });
    const { log } = wireTo(url);
    expect(await log.line(/closed/)).toMatch(new RegExp(`^closed ${code}`));
    expect(log.lines.filter((line) => line.startsWith('message'))).toEqual([]);
    await raw.gone();
  });

  it('passes invalid JSON and bytes on to the codec as they are', async () => {
    const { url } = await provider((socket, head) => {
      accept(socket, head);
      for (const text of ['no JSON', '', 'null', '[1', '{"type":"ready"}']) socket.write(frame(1, Buffer.from(text)));
      socket.write(frame(2, Buffer.alloc(7)));
    });
    const { wire, log } = wireTo(url);
    await log.line(/message 7/);
    expect(log.lines).toEqual([
      'opened',
      'message no JSON',
      'message ',
      'message null',
      'message [1',
      'message {"type":"ready"}',
      'message 7',
    ]);
    wire.terminate();
  });
});

describe('a provider that falls silent', () => {
  it('gets one ping, and is dropped without an answer', async () => {
    const pings: number[] = [];
    const { url, raw } = await provider((socket, head) => {
      accept(socket, head);
      socket.on('data', (data: Buffer) => {
        if ((data[0]! & 0x0f) === 9) pings.push(data[0]!);
      });
    });
    const { log, clock } = wireTo(url);
    await log.line(/opened/);
    clock.increment(9_999);
    clock.increment(1);
    clock.increment(9_999);
    expect(log.lines).toEqual(['opened']);
    clock.increment(1);
    expect(log.lines).toEqual(['opened', 'closed 1006 The provider did not answer a ping.']);
    await raw.gone();
  });

  it('stays connected for ever when it answers', async () => {
    let answered: () => void = () => {};
    const { url } = await provider((socket, head) => {
      accept(socket, head);
      socket.on('data', (data: Buffer) => {
        if ((data[0]! & 0x0f) !== 9) return;
        socket.write(Buffer.concat([Buffer.from([0x8a, 0]), frame(1, Buffer.from('"pong"'))]));
        answered();
      });
    });
    const { wire, log, clock } = wireTo(url);
    await log.line(/opened/);
    for (let minute = 0; minute < 6; minute++) {
      const answer = new Promise<void>((resolve) => {
        answered = resolve;
      });
      const heard = log.lines.length;
      clock.increment(10_000);
      await answer;
      while (log.lines.length === heard) await new Promise((resolve) => setImmediate(resolve));
    }
    expect(log.lines.some((line) => line.startsWith('closed'))).toBe(false);
    wire.terminate();
  });
});

describe('a provider that does not read', () => {
  it('fills the buffer, and reports a drain when it reads again', async () => {
    let socketOf: Socket | undefined;
    const { url } = await provider((socket, head) => {
      accept(socket, head);
      socket.pause();
      socketOf = socket;
    });
    const { wire, log } = wireTo(url);
    await log.line(/opened/);
    const chunk = new Uint8Array(262_144);
    for (let sent = 0; sent < 200 && wire.bufferedBytes < 1_048_576; sent++) {
      wire.send(chunk);
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(wire.bufferedBytes).toBeGreaterThanOrEqual(1_048_576);
    expect(log.lines).toEqual(['opened']);
    socketOf?.resume();
    await log.line(/drained/);
    expect([wire.bufferedBytes, log.lines]).toEqual([0, ['opened', 'drained']]);
    wire.terminate();
  });
});
