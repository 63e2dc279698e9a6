// The server of simulators over real sockets, met by the gateway's own wire and by a plain client: what the provider says,
// how faults look from outside, and that nothing is left open.
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { afterEach, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { SimulatedClock } from 'xstate';
import { openWire } from '../../../../src/live/upstream/wire/open-wire.ts';
import type { Wire } from '../../../../src/live/upstream/wire/wire.ts';
import { numberedEar, scriptEar } from '../../../../src/vendors/simulation/ears.ts';
import { SimulatorServer, type SimulatorServerOptions } from '../../../../src/vendors/simulation/server.ts';
import { numberedAudio } from '../../../fakes/audio/numbered-audio.ts';
import { timersOf } from '../../../live/session/support.ts';
import { WireLog } from '../../../suites/wire.suite.ts';
import { tinyProvider } from './tiny-provider.ts';

const RATE = 8_000;
const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

async function start(options: Partial<SimulatorServerOptions> = {}) {
  const stories: string[] = [];
  let tell = (): void => {};
  const server = await SimulatorServer.start({
    simulator: tinyProvider,
    ear: numberedEar({ turnSeconds: 1, interimSeconds: 60 }),
    onEnd: (line) => {
      stories.push(line);
      tell();
    },
    ...options,
  });
  closers.push(() => server.close());
  const story = async () => {
    while (stories.length === 0) await new Promise<void>((resolve) => (tell = resolve));
    return stories[0] as string;
  };
  return { server, stories, story };
}

/** The gateway's wire to the server. */
function dial(
  server: SimulatorServer,
  clock = new SimulatedClock(),
): { wire: Wire; log: WireLog; clock: SimulatedClock } {
  const log = new WireLog();
  const endpoint = {
    kind: 'websocket' as const,
    url: `${server.url.replace('http', 'ws')}/listen?rate=${RATE}`,
    headers: { Authorization: 'Token good' },
  };
  const wire = openWire(endpoint, {}, log, clock);
  closers.push(() => wire.terminate());
  return { wire, log, clock };
}

describe('a simulator over WebSocket', () => {
  it('sends what its ear transcribed, and closes in order', async () => {
    const { server, story } = await start();
    const { wire, log } = dial(server);
    await log.line(/ready/);
    expect(server.connections).toBe(1);
    wire.send(numberedAudio(0, 12_000));
    wire.send('finish');
    expect(await log.line(/closed/)).toBe('closed 1000 done');
    expect(log.lines.filter((line) => line.includes('"final"')).map((line) => JSON.parse(line.slice(8)).text)).toEqual([
      '0-8000',
      '8000-12000',
    ]);
    expect(await story()).toBe(
      '#1 GET /listen: heard 1.5 s, said 8 messages (finals: 2), closed by the provider with 1000',
    );
    expect(server.connections).toBe(0);
  });

  it.each([
    ['drop', /^closed 1006/, 'reset by the provider; played drop-after'],
    ['error', /^closed 1011/, 'closed by the provider with 1011; played error-after'],
    ['stall', undefined, 'lost; played stall-after'],
  ] as const)('says that it is simulated, and fails on demand: %s', async (fault, closed, ending) => {
    const { server, story } = await start();
    const { wire, log } = dial(server);
    await log.line(/ready/);
    expect(log.lines[0]).toBe('simulated');
    wire.breakDown(fault);
    wire.send(numberedAudio(0, 12_000));
    wire.send('finish');
    if (closed === undefined) wire.terminate();
    else await log.line(closed);
    expect(await story()).toContain(`heard 0.0 s`);
    expect(await story()).toContain(ending);
  });

  it('refuses an upgrade in the words of its provider', async () => {
    const { server, story } = await start();
    const socket = new WebSocket(`${server.url.replace('http', 'ws')}/listen`);
    const [, response] = (await once(socket, 'unexpected-response')) as [unknown, IncomingMessage];
    const body = Buffer.concat(await response.toArray()).toString();
    expect([response.statusCode, response.headers['retry-after'], JSON.parse(body)]).toEqual([
      401,
      '7',
      { error: 'tiny 401' },
    ]);
    expect(await story()).toBe('#1 GET /listen: refused with 401');
  });

  it('takes the subprotocol that its provider takes, and no compression', async () => {
    const { server } = await start();
    const socket = new WebSocket(`${server.url.replace('http', 'ws')}/listen`, ['first', 'second'], {
      headers: { authorization: 'Token good' },
      perMessageDeflate: true,
    });
    await once(socket, 'open');
    expect([socket.protocol, socket.extensions]).toEqual(['first', '']);
  });

  it('closes without a code by an empty close frame', async () => {
    const { server } = await start();
    const { wire, log } = dial(server);
    await log.line(/ready/);
    wire.send('bye');
    expect(await log.line(/closed/)).toBe('closed 1005');
  });

  it('reports a throw, closes that connection with 1011, and continues', async () => {
    const faults: unknown[] = [];
    const { server } = await start({ onFault: (error) => faults.push(error) });
    const { wire, log } = dial(server);
    await log.line(/ready/);
    wire.send('oops');
    expect(await log.line(/closed/)).toBe('closed 1011 fault of the simulator');
    expect(faults).toHaveLength(1);
    await dial(server).log.line(/ready/);
  });

  it('closed by its owner drops every connection', async () => {
    const { server } = await start();
    const { log } = dial(server);
    await log.line(/ready/);
    await server.close();
    expect(await log.line(/closed/)).toBe('closed 1006');
    expect(server.connections).toBe(0);
  });

  it.each<[string, RegExp, RegExp?]>([
    ['refuse=503', /^refused 503 {"error":"tiny 503"}$/],
    ['error-after=0', /^closed 1011 tiny$/, /tiny_failure/],
    ['close-after=500ms:4100', /^closed 4100$/],
    ['drop-after=500ms', /^closed 1006$/],
    ['binary-messages', /^message 4$/],
    ['huge-message', /^closed 1006$/],
    ['invalid-utf8=500ms', /^closed 1006$/, /speech_started/],
    ['deflate-bomb', /^closed 1006$/],
    ['tiny-fragments', /^message {"type":"ready"}$/, /^message {"type":"hello","id":"1","volume":null}$/],
    ['latency=5ms', /"0-8000"/],
  ])('meets the gateway as expected with %s', async (fault, line, before) => {
    const { server } = await start({ faults: [fault] });
    const { wire, log } = dial(server);
    if (!fault.startsWith('refuse')) {
      await log.line(/opened/);
      wire.send(numberedAudio(0, RATE));
    }
    await log.line(line);
    if (before !== undefined) await log.line(before);
  });

  it('answers no upgrade with hang, and forgets a client that leaves', async () => {
    const { server, story } = await start({ faults: ['hang'] });
    const { wire, log } = dial(server);
    expect(await story()).toBe('#1 GET /listen: not answered');
    expect([server.connections, log.lines]).toEqual([1, []]);
    wire.terminate();
    await gone(server);
  });

  it('takes only as many bytes as the system buffers with freeze-after', async () => {
    const { server } = await start({ faults: ['freeze-after=100ms'] });
    const { wire, log } = dial(server);
    await log.line(/ready/);
    wire.send(numberedAudio(0, RATE));
    await log.line(/speech_started/);
    // Far more than the buffers of a socket hold.
    for (let count = 0; count < 40; count++) wire.send(new Uint8Array(1_000_000));
    await new Promise((resolve) => setImmediate(resolve));
    expect(wire.bufferedBytes).toBeGreaterThan(0);
  });

  it('leaves a close unanswered with slow-close', async () => {
    const { server, story } = await start({ faults: ['slow-close'] });
    const { wire, log, clock } = dial(server);
    await log.line(/ready/);
    wire.close();
    // The provider has read the close, and everything before it, once it answers a second connection.
    await dial(server).log.line(/ready/);
    expect(log.lines.at(-1)).toMatch(/ready/);
    clock.increment(2_000);
    expect(await log.line(/closed/)).toBe('closed 1006');
    expect(await story()).toMatch(/closed by the client with 1000; played slow-close$/);
  });
});

describe('the bounds of a server', () => {
  const connect = async (server: SimulatorServer) => {
    const url = `${server.url.replace('http', 'ws')}/listen?rate=${RATE}`;
    const socket = new WebSocket(url, { headers: { authorization: 'Token good' } });
    socket.on('error', () => {});
    await once(socket, 'open');
    return socket;
  };

  it('reset a client that leaves 16 MiB unread', async () => {
    const { server, story } = await start();
    const socket = await connect(server);
    socket.pause();
    // The provider says it all back; the buffers of both systems take some megabytes.
    for (let count = 0; count < 40; count++) socket.send('x'.repeat(1_000_000));
    expect(await story()).toMatch(/, lost$/);
    socket.terminate();
  });

  it('close a client that sends more than 16 MiB at once', async () => {
    const { server } = await start();
    const socket = await connect(server);
    socket.send(new Uint8Array(17 * 1024 * 1024));
    expect(await once(socket, 'close')).toEqual([1009, Buffer.alloc(0)]);
  });

  it('drop an upgrade that got no answer for ten minutes', async () => {
    const clock = new SimulatedClock();
    const { server, story } = await start({ faults: ['hang'], clock });
    const { log } = dial(server);
    await story();
    clock.increment(600_000);
    expect(await log.line(/unreachable/)).toBe('unreachable The provider could not be reached (ECONNRESET).');
    await gone(server);
  });
});

/** Resolves when no connection is open: each end comes with one more event of the loop. */
async function gone(server: SimulatorServer): Promise<void> {
  while (server.connections > 0) await new Promise((resolve) => setImmediate(resolve));
}

describe('a simulator over HTTP', () => {
  const wav = readFileSync(new URL('../../../fixtures/audio/commands.wav', import.meta.url));
  const post = (server: SimulatorServer, body: Uint8Array, path = '/transcribe') =>
    fetch(server.url + path, { method: 'POST', body });

  it('transcribes a whole file with its ear', async () => {
    const { server, story } = await start({ ear: scriptEar({ turns: [{ text: 'a turn', seconds: 10 }] }) });
    const answer = await post(server, wav);
    const { seconds, turns } = (await answer.json()) as {
      seconds: number;
      turns: { text: string; words: unknown[] }[];
    };
    expect(seconds).toBeCloseTo(15.4, 1);
    expect(turns.map(({ text, words }) => [text, words.length])).toEqual([
      ['a turn', 2],
      ['a turn', 2],
    ]);
    expect(await story()).toBe('#1 POST /transcribe: answered with 200');
  });

  it.each<[string, Uint8Array, string, number, RegExp]>([
    ['data that is not audio', randomBytes(1_000), '/transcribe', 400, /not a WAV file/],
    ['a path it does not have', wav, '/elsewhere', 404, /tiny 404/],
  ])('answers %s as its provider does', async (_, body, path, status, words) => {
    const { server } = await start();
    const answer = await post(server, body, path);
    expect([answer.status, await answer.text()]).toEqual([status, expect.stringMatching(words)]);
  });

  it('answers a body over its limit with 413 and disconnects the client', async () => {
    const { server } = await start({ bodyBytesMax: 1_048_576 });
    const client = httpRequest(`${server.url}/transcribe`, { method: 'POST' });
    client.on('error', () => {});
    const piece = Buffer.alloc(128 * 1024);
    for (let count = 0; count < 9; count++) client.write(piece);
    const [response] = (await once(client, 'response')) as [IncomingMessage];
    expect([response.statusCode, response.headers.connection]).toEqual([413, 'close']);
    client.destroy();
  });

  it.each(['hang', 'mute'])('never answers with %s', async (fault) => {
    const { server, story } = await start({ faults: [fault] });
    const answer = post(server, wav).catch((error: Error) => error.name);
    expect(await story()).toBe('#1 POST /transcribe: not answered');
    await server.close();
    expect(await answer).toBe('TypeError');
  });

  it('answers later with latency, and stops waiting when it is closed', async () => {
    const clock = new SimulatedClock();
    const { server, story } = await start({ faults: ['latency=60m'], clock });
    const answer = post(server, wav).catch((error: Error) => error.name);
    while (timersOf(clock) === 0) await new Promise((resolve) => setImmediate(resolve));
    await server.close();
    expect([await answer, timersOf(clock)]).toEqual(['TypeError', 0]);
    expect(await story()).toBe('#1 POST /transcribe: answered with 200');
  });

  it('refuses the first request in its own words with refuse-next', async () => {
    const { server } = await start({ faults: ['refuse-next=1'] });
    expect((await post(server, wav)).status).toBe(503);
    expect((await post(server, wav)).status).toBe(200);
  });
});

describe('a server', () => {
  it('does not start with a fault it does not know', async () => {
    await expect(start({ faults: ['nonsense'] })).rejects.toThrow('There is no fault "nonsense".');
  });

  it('does not start on a port that is taken', async () => {
    const { server } = await start();
    await expect(start({ port: server.port })).rejects.toThrow('EADDRINUSE');
  });
});
