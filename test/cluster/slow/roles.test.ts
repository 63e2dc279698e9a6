// A gateway whose roles are on nodes of their own: what a customer does works as on one node, from the first byte to the bill.
import { readFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { beforeAll, describe, expect, it } from 'vitest';
import { natsServerIsHere } from '../../fakes/network/nats-server.ts';
import { voxgate } from '../../fakes/processes/voxgate.ts';
import { APART, Cluster, MICRO_USD_PER_MS, NODE_START_MS } from '../rig/cluster.ts';
import { Talker } from '../rig/talker.ts';

const SECONDS = 5;

// It says itself why, when nats-server is not here.
describe.skipIf(!natsServerIsHere)('a gateway with edge, upstream and accounts on separate nodes', () => {
  let cluster: Cluster;
  let url: string;
  beforeAll(async () => {
    cluster = await Cluster.start(APART);
    url = cluster.node('edge').url;
  }, 3 * NODE_START_MS);

  const ask = async (path: string, init: RequestInit = {}) => {
    const response = await fetch(`${url}${path}`, {
      ...init,
      headers: { Authorization: `Bearer ${cluster.key}`, ...init.headers },
    });
    return { status: response.status, body: (await response.json()) as Record<string, unknown> };
  };
  const settled = (id: string) =>
    cluster.node('accounts').logged('usage is settled', ({ sessionId }) => sessionId === id);

  it('transcribes a session to the last sample, and bills it to the micro-dollar', async () => {
    const talker = await Talker.begin({ url, key: cluster.key, seconds: SECONDS });
    const { cost_usd } = await talker.finish();
    await settled(talker.sessionId);
    const { body } = await ask(`/v1/sessions/${talker.sessionId}`);
    expect(Number(cost_usd) * 1e6).toBe(SECONDS * 1000 * MICRO_USD_PER_MS);
    expect(body).toMatchObject({ state: 'ended', cost_usd, held_usd: '0.00', audio_seconds: SECONDS });
    const { code, output } = await voxgate(['ledger', 'audit'], {
      VOXGATE_DATA_DIRECTORY: cluster.node('accounts').directory,
    });
    expect({ code, output }).toMatchObject({ code: 0, output: expect.stringMatching(/agree/) });
  });

  it('transcribes a file, and lists it among the sessions', async () => {
    const form = new FormData();
    form.set('model', 'local/commands-en');
    form.set('file', new Blob([await readFile('test/fixtures/audio/commands.wav')]), 'commands.wav');
    const { status, body } = await ask('/v1/audio/transcriptions', { method: 'POST', body: form });
    expect({ status, text: body.text }).toMatchObject({ status: 200, text: expect.stringContaining('kitchen lights') });
    await cluster.node('accounts').logged('usage is settled', ({ sessionId }) => String(sessionId).startsWith('req_'));
    const { body: list } = await ask('/v1/sessions');
    expect((list.data as { mode: string }[]).filter(({ mode }) => mode === 'batch')).toHaveLength(1);
  });

  it('accepts a key’s client token on the edge', async () => {
    const { body } = await ask('/v1/tokens', {
      method: 'POST',
      body: '{}',
      headers: { 'Content-Type': 'application/json' },
    });
    const talker = await Talker.begin({ url, key: String(body.token), seconds: 1 });
    await talker.finish();
  });

  it('refuses an unknown key, and at once one that is revoked on the accounts node', async () => {
    const directory = { VOXGATE_DATA_DIRECTORY: cluster.node('accounts').directory };
    const { output: secret } = await voxgate(['keys', 'create', '--name', 'short'], directory);
    const { output: listed } = await voxgate(['keys', 'list', '--json'], directory);
    const id = (JSON.parse(listed) as { id: string; name: string }[]).find(({ name }) => name === 'short')?.id ?? '';
    const withKey = (key: string) => ask('/v1/models', { headers: { Authorization: `Bearer ${key.trim()}` } });
    expect((await withKey(secret)).status).toBe(200);
    const talker = await Talker.begin({ url, key: secret.trim(), seconds: 60 });
    const revokedAtMs = performance.now();
    await voxgate(['keys', 'revoke', id], directory);
    expect(await talker.close()).toEqual({ code: 4001, reason: 'key_revoked' });
    expect((await withKey(secret)).body).toMatchObject({ error: { code: 'key_revoked' } });
    expect((await withKey(`${secret.trim().slice(0, -1)}x`)).status).toBe(401);
    console.info(`revoked for the other node within ${Math.round(performance.now() - revokedAtMs)} ms`);
  });

  it('leads the first owner’s link to a node with the console, or reports none', async () => {
    const accounts = cluster.node('accounts');
    const firstLink = async () => (await readFile(join(accounts.directory, 'first-owner'), 'utf8')).trim();
    const link = await firstLink();
    // By hand: answers to others are compared with the document of the whole interface.
    const at = new URL(link);
    const socket = connect(Number(at.port), at.hostname);
    socket.end(`GET ${at.pathname}${at.search} HTTP/1.1\r\nHost: ${at.host}\r\nConnection: close\r\n\r\n`);
    const answer = await text(socket);
    expect(answer).toMatch(/^HTTP\/1\.1 307 /);
    const [, location = ''] = /\r\nlocation: (\S+)/i.exec(answer) ?? [];
    expect(location).toBe(`${url}${at.pathname}${at.search}`);
    expect((await fetch(location)).status).toBe(200);
    await accounts.end('SIGTERM');
    await accounts.start();
    expect(await firstLink()).toContain(`${url}/join?token=`);
  });

  it('answers the operator only on nodes without clients', async () => {
    for (const id of ['accounts', 'upstream']) {
      const own = cluster.node(id).url;
      expect((await fetch(`${own}/healthz`)).status).toBe(200);
      expect(await (await fetch(`${own}/readyz`)).json()).toEqual({ status: 'ready' });
      expect(await (await fetch(`${own}/metrics`)).text()).toContain('voxgate_');
      // By hand: answers to others are compared with the document of the whole interface.
      const socket = connect(cluster.node(id).port, '127.0.0.1');
      socket.end('GET /v1/models HTTP/1.1\r\nHost: node\r\nConnection: close\r\n\r\n');
      expect(await text(socket)).toMatch(/^HTTP\/1\.1 404 [\s\S]*serves no clients/);
    }
  });
});
