// A client that goes on with its session through another node: the session takes, refuses and tells what it would of a client of its
// own. One node has uWebSockets.js as its adapter, the other `ws`, and each is the one and the other end.
import { beforeAll, describe, expect, it } from 'vitest';
import type { ClientOptions } from 'ws';
import { Cluster, MODEL, NODE_START_MS } from '../../../cluster/rig/cluster.ts';
import { numberedAudio } from '../../../fakes/audio/numbered-audio.ts';
import { expectWhole } from '../../../fakes/audio/numbered-finals.ts';
import { natsServerIsHere } from '../../../fakes/network/nats-server.ts';
import { LiveClient } from '../../../fakes/processes/live-gateway.ts';

const RATE = 16_000;
const MIB = 1024 * 1024;
const ROLES = 'edge,upstream';
/** The node that has the session, and the one that the client comes back to. */
const WAYS = [
  ['one', 'two'],
  ['two', 'one'],
] as const;

// It says itself why, when nats-server is not here.
describe.skipIf(!natsServerIsHere)('a client of another node', () => {
  let cluster: Cluster;
  beforeAll(async () => {
    const nodes = {
      one: { roles: `${ROLES},accounts`, env: { VOXGATE_DOOR: 'uws' } },
      two: { roles: ROLES, env: { VOXGATE_DOOR: 'node' } },
    };
    cluster = await Cluster.start(nodes, {
      VOXGATE_REQUESTS_PER_MINUTE_PER_KEY_MAX: '1000000',
      VOXGATE_BINARY_FRAME_BYTES_MAX: String(21 * MIB),
      VOXGATE_SESSION_PING_MS: '1000',
      VOXGATE_SESSION_PONG_MS: '500',
      VOXGATE_SESSION_DRAIN_MS: '3000',
    });
  }, 3 * NODE_START_MS);

  function connect(node: string, query: Record<string, string>, options: ClientOptions = {}): LiveClient {
    const url = `${cluster.node(node).url.replace('http', 'ws')}/v1/listen?${new URLSearchParams(query)}`;
    return new LiveClient(url, [], { ...options, headers: { Authorization: `Bearer ${cluster.key}` } });
  }

  /** The token of a session of that node whose client is gone. */
  async function left(home: string, turnSeconds: number): Promise<string> {
    const params = JSON.stringify({ turn_seconds: turnSeconds });
    const client = connect(home, { model: MODEL, provider_params: params, resume: 'on' });
    const { resume_token: token } = await client.event('session_started');
    client.socket.terminate();
    await client.close();
    return String(token);
  }

  async function back(token: string, node: string, options: ClientOptions = {}): Promise<LiveClient> {
    const client = connect(node, { resume: token, last_seq: '1' }, options);
    await client.event('session_resumed');
    return client;
  }

  it.each(WAYS)(
    'sends twenty minutes in two messages to %s by %s, and receives everything at once',
    async (home, by) => {
      const samples = 20 * 60 * RATE;
      const client = await back(await left(home, 0.5), by);
      client.send(numberedAudio(0, samples / 2));
      client.send(numberedAudio(samples / 2, samples));
      client.send({ type: 'close' });
      expect(await client.close()).toMatchObject({ code: 1000 });
      expectWhole(client.finals, samples);
    },
  );

  it('sends a large message that takes longer than the answer to a ping may', async () => {
    const samples = 700_000;
    const client = await back(await left('one', 5), 'two', { autoPong: false });
    const { buffer } = numberedAudio(0, samples);
    const payload = Buffer.from(buffer as ArrayBuffer, 0, 2 * samples);
    const line = (client.socket as unknown as { _socket: NodeJS.WritableStream })._socket;
    // A frame of 64 bits of length, and a mask that changes nothing.
    const head = Buffer.alloc(14);
    head.writeUInt16BE(0x82ff);
    head.writeBigUInt64BE(BigInt(payload.byteLength), 2);
    line.write(head);
    let sent = 0;
    await new Promise<void>((resolve) => {
      client.socket.on('ping', () => {
        if (sent < payload.byteLength) line.write(payload.subarray(sent, sent + payload.byteLength / 5));
        else client.socket.pong();
        sent += payload.byteLength / 5;
        if (sent === payload.byteLength) resolve();
      });
      client.socket.on('close', () => resolve());
    });
    client.send({ type: 'close' });
    expect(await client.close()).toMatchObject({ code: 1000 });
    expectWhole(client.finals, samples);
  });

  /** How it ends for a client of the session's node, or of another one. */
  async function ends(home: string, by: string, misuse: (client: LiveClient) => void) {
    const client = await back(await left(home, 1), by);
    misuse(client);
    const { code } = await client.close();
    const [first] = client.events;
    return {
      code,
      errors: client.of('error').map(({ error }) => error.code),
      // Numbered behind the one that the client had, and of the same session.
      seqs: client.events.slice(1).map(({ seq }) => seq),
      isOneSession: client.events.every(({ session_id: id }) => id === first?.session_id),
      reasons: client.of('session_ended').map(({ reason }) => reason),
    };
  }

  it.each([
    [
      'too large a binary message',
      'message_too_big',
      (client: LiveClient) => client.socket.send(Buffer.alloc(22 * MIB)),
    ],
    ['too large a text', 'message_too_big', (client: LiveClient) => client.socket.send('x'.repeat(70_000))],
    ['too large a text for NATS', 'message_too_big', (client: LiveClient) => client.socket.send('x'.repeat(3 * MIB))],
    [
      'a flood of texts',
      'rate_limit_exceeded',
      (client: LiveClient) => {
        for (let at = 0; at < 700; at++) client.send({ type: 'keepalive' });
      },
    ],
  ])('fails with %s like a client of the session’s own node', async (_, code, misuse) => {
    for (const [home, by] of WAYS) {
      const own = await ends(home, home, misuse);
      expect(own).toMatchObject({ errors: [code], isOneSession: true, reasons: ['error'] });
      expect(await ends(home, by, misuse)).toEqual(own);
    }
  });

  it('gets no more acknowledged than an ended session has taken', async () => {
    const client = await back(await left('one', 5), 'two');
    client.socket.send(numberedAudio(0, 10 * MIB));
    await client.event('received');
    client.socket.send('x'.repeat(70_000));
    await client.close();
    const taken = client.of('received').at(-1)?.bytes ?? 0;
    expect(taken).toBeGreaterThan(0);
    expect(client.of('session_ended')[0]?.audio_seconds).toBeGreaterThanOrEqual(taken / 2 / RATE);
  });

  it('moves on when that node is shut down, and loses nothing', async () => {
    const token = await left('one', 0.5);
    const client = await back(token, 'two');
    client.send(numberedAudio(0, RATE));
    await client.event('transcript', ({ is_final: isFinal, end }) => isFinal && end === 1);
    const ended = cluster.node('two').end('SIGTERM');
    expect(await client.close()).toMatchObject({ code: 1012 });
    expect(await ended).toBe(0);
    const next = connect('one', { resume: token, last_seq: String(client.events.at(-1)?.seq) });
    await next.event('session_resumed');
    next.send(numberedAudio(RATE, 2 * RATE));
    next.send({ type: 'close' });
    await next.close();
    expectWhole([...client.finals, ...next.finals], 2 * RATE);
    await cluster.node('two').start();
  });

  it('receives the end of a session that ended while its own node shut down', async () => {
    const token = await left('two', 30);
    const client = await back(token, 'two');
    client.send(numberedAudio(0, RATE));
    await client.event('received', ({ bytes }) => bytes === 2 * RATE);
    client.socket.terminate();
    await client.close();
    const node = cluster.node('two');
    const ended = node.end('SIGTERM');
    await node.logged('session ended');
    const next = connect('one', { resume: token, last_seq: String(client.events.at(-1)?.seq) });
    expect(await next.close()).toMatchObject({ code: 4200 });
    expectWhole(next.finals, RATE);
    expect(await ended).toBe(0);
    await node.start();
  });
});
