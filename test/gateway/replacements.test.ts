// Replacement rules over a whole gateway, as strangers use them: live and in files, in every format, by key, in mid-session, after a
// failover and a resumed connection, in jobs, and for clients of other vendors. All texts that leave say the same.

import { once } from 'node:events';
import { beforeAll, describe, expect, it } from 'vitest';
import WebSocket from 'ws';
import type { KeySettings } from '../../src/accounts/keys/calls.ts';
import { wavHeader } from '../../src/audio/containers/wav.ts';
import { openSqliteStore } from '../../src/node/store/sqlite-store.ts';
import { type LiveGateway, startLiveGateway } from '../fakes/processes/live-gateway.ts';
import { OPERATOR } from '../fakes/store/ledger.ts';

const TURNS = [
  { text: 'Welcome to vox gate.', seconds: 0.5 },
  { text: 'VOX GATE is um gonna listen.', seconds: 0.5 },
  { text: 'Um.', seconds: 0.5 },
];
const script = JSON.stringify({ turns: TURNS, interim_seconds: 0.1 });
const SCRIPTED = { model: 'loopback/script', provider_params: script };
const RULES = ['vox gate:Voxgate', 'gonna:going to', 'um:'];
const REPLACED = ['Welcome to Voxgate.', 'Voxgate is going to listen.'];
const AUDIO = new Uint8Array(48_000);

let live: LiveGateway;
let keyWithRules: string;

beforeAll(async () => {
  live = await startLiveGateway();
  const store = await openSqliteStore({ directory: live.directory });
  const [organisation] = await store.listOrganisations();
  const settings: Partial<KeySettings> = {
    scopes: ['listen', 'transcribe', 'tokens'],
    replace: RULES.map((rule) => ({ from: rule.split(':')[0] as string, to: rule.split(':')[1] as string })),
    aliases: { scripted: [{ model: 'loopback/script', provider_params: { turns: TURNS, interim_seconds: 0.1 } }] },
  };
  keyWithRules = (await store.createKey(organisation!.id, settings, OPERATOR)).secret;
  await store.close();
});

interface Transcript {
  type: string;
  is_final?: boolean;
  text: string;
  words?: { word: string; start: number; end: number }[];
}

async function listen(query: Record<string, string>, key = live.key) {
  const headers = { Authorization: `Bearer ${key}` };
  const client = live.connect({ ...SCRIPTED, ...query }, { authorize: false, headers });
  await client.event('session_started');
  client.send(AUDIO);
  client.send({ type: 'close' });
  await client.close();
  return client.events as unknown as Transcript[];
}

const finalsOf = (events: readonly Transcript[]) =>
  events.filter(({ type, is_final }) => type === 'transcript' && is_final).map(({ text }) => text);

const as = (key: string, path: string, init: RequestInit = {}) =>
  live.request(path, { ...init, headers: { ...(init.headers as object), Authorization: `Bearer ${key}` } });

const wav = () => new Uint8Array(Buffer.concat([wavHeader(16_000, AUDIO.length), AUDIO]));

function form(fields: Record<string, string>, rules: readonly string[] = [], name = 'replace'): RequestInit {
  const body = new FormData();
  for (const [field, value] of Object.entries({ ...SCRIPTED, ...fields })) body.set(field, value);
  for (const rule of rules) body.append(name, rule);
  body.set('file', new Blob([wav()], { type: 'audio/wav' }), 'a.wav');
  return { method: 'POST', body };
}

describe('replacement rules of a live session', () => {
  it('come in the query, as JSON or in a start message, and apply to all texts', async () => {
    const events = await listen({ replace: JSON.stringify(RULES), turn_events: 'true' });
    expect(finalsOf(events)).toEqual([...REPLACED, '']);
    expect(JSON.stringify(events)).not.toMatch(/vox gate"|gonna|um gonna/i);
    const words = events.findLast(({ is_final, words = [] }) => is_final && words.length > 0)?.words ?? [];
    for (const [index, word] of words.entries()) expect(word.start).toBeGreaterThanOrEqual(words[index - 1]?.end ?? 0);
  });

  it('of a key apply to all its requests, after those that the request itself has', async () => {
    expect(finalsOf(await listen({}, keyWithRules))).toEqual([...REPLACED, '']);
    const own = await listen({ replace: 'Vox Gate:the gate' }, keyWithRules);
    expect(finalsOf(own)).toEqual(['Welcome to the gate.', 'THE GATE is going to listen.', '']);
    expect(finalsOf(await listen({}))).toEqual(TURNS.map(({ text }) => text));
  });

  it('are the same for the next model of the chain', async () => {
    const fails = { turns: TURNS, interim_seconds: 0.1, fail: { how: 'error', at_seconds: 0.7 } };
    const next = { model: 'loopback/script', provider_params: { turns: TURNS.slice(1) } };
    const chain = { provider_params: JSON.stringify(fails), fallbacks: JSON.stringify([next]) };
    const events = await listen({ ...chain, replace: JSON.stringify(RULES) });
    expect(events.filter(({ type }) => type === 'failover')).toHaveLength(1);
    expect(finalsOf(events).slice(0, 2)).toEqual(REPLACED);
    expect(finalsOf(events)).toHaveLength(finalsOf(await listen(chain)).length);
  });

  it('are the same for what a broken connection is sent again', async () => {
    const headers = { Authorization: `Bearer ${keyWithRules}` };
    const client = live.connect({ ...SCRIPTED, resume: 'on' }, { authorize: false, headers });
    const { resume_token } = await client.event('session_started');
    client.send(AUDIO.subarray(0, 32_000));
    await client.event('transcript', ({ is_final }) => is_final);
    client.socket.terminate();
    const again = live.connect({ resume: resume_token!, last_seq: '1' }, { authorize: false, headers });
    await again.event('session_resumed');
    again.send(AUDIO.subarray(32_000));
    again.send({ type: 'close' });
    await again.close();
    expect(finalsOf(again.events as unknown as Transcript[])).toEqual([...REPLACED, '']);
  });

  it('are refused by name in the query, and in mid-session without an end of it', async () => {
    const { status, body } = await live.connect({ ...SCRIPTED, replace: 'no colon' }).refused();
    expect([status, JSON.parse(body).error]).toMatchObject([400, { code: 'invalid_request', param: 'replace' }]);
    const client = live.connect(SCRIPTED);
    await client.event('session_started');
    client.send({ type: 'configure', replace: [{ from: 'a', to: 'b', match: 'regex' }] });
    expect(await client.event('error')).toMatchObject({ error: { param: 'replace' } });
    client.send({ type: 'configure', replace: RULES });
    await client.event('configured');
    client.send(AUDIO);
    client.send({ type: 'close' });
    await client.close();
    expect(finalsOf(client.events as unknown as Transcript[])).toEqual([...REPLACED, '']);
  });
});

describe('replacement rules of a client token', () => {
  const mint = async (replace: unknown, key = live.key) => {
    const headers = { 'Content-Type': 'application/json' };
    const init = { method: 'POST', headers, body: JSON.stringify({ replace }) };
    const response = await as(key, '/v1/tokens', init);
    return { status: response.status, ...((await response.json()) as Minted) };
  };
  interface Minted {
    token: string;
    error?: { code: string; param?: string; message: string };
  }

  it('apply to its sessions, after those of the request and before those of the key', async () => {
    const { token } = await mint(['vox gate:the gate', { from: 'listen', to: 'hear' }], keyWithRules);
    expect(finalsOf(await listen({}, token))).toEqual(['Welcome to the gate.', 'THE GATE is going to hear.', '']);
    const asked = await listen({ replace: 'vox gate:a door' }, token);
    expect(finalsOf(asked)).toEqual(['Welcome to a door.', 'A DOOR is going to hear.', '']);
    expect(finalsOf(await listen({}, keyWithRules))).toEqual([...REPLACED, '']);
  });

  it('stay when the session changes its own', async () => {
    const { token } = await mint(RULES);
    const client = live.connect(SCRIPTED, { authorize: false, headers: { Authorization: `Bearer ${token}` } });
    await client.event('session_started');
    client.send({ type: 'configure', replace: null });
    await client.event('configured');
    client.send(AUDIO);
    client.send({ type: 'close' });
    await client.close();
    expect(finalsOf(client.events as unknown as Transcript[])).toEqual([...REPLACED, '']);
  });

  it('apply to a file that a page uploads', async () => {
    const store = await openSqliteStore({ directory: live.directory });
    const [organisation] = await store.listOrganisations();
    const scopes: KeySettings['scopes'] = ['listen', 'tokens', 'tokens_may_upload'];
    const { secret } = await store.createKey(organisation!.id, { scopes }, OPERATOR);
    await store.close();
    const { token } = await mint(RULES, secret);
    const response = await as(token, '/v1/audio/transcriptions', form({ response_format: 'text' }));
    expect(await response.text()).toContain('Welcome to Voxgate.');
  });

  it.each<[unknown, RegExp]>([
    [['no colon'], /invalid rule, number 1/],
    ['vox gate:Voxgate', /must be a list of rules/],
    [[{ from: 'a', to: 'b', match: 'regex' }], /`match` must be word or literal/],
    [Array.from({ length: 201 }, (_, n) => `w${n}:x`), /201 rules/],
    [Array.from({ length: 40 }, (_, n) => `word${n}:other`), /a token carries 512 at most/],
  ])('are refused by name: %j', async (replace, message) => {
    const { status, error } = await mint(replace);
    expect([status, error]).toMatchObject([400, { code: 'invalid_request', param: 'replace' }]);
    expect(error?.message).toMatch(message);
  });

  it('may be none, or as many as the token carries', async () => {
    expect((await mint([])).status).toBe(200);
    expect((await mint(Array.from({ length: 18 }, (_, n) => `w${n}:x`))).status).toBe(200);
  });
});

describe('replacement rules of a file', () => {
  it.each(['json', 'text', 'verbose_json', 'diarized_json', 'srt', 'vtt'])(
    'apply to an answer as %s',
    async (format) => {
      const response = await as(live.key, '/v1/audio/transcriptions', form({ response_format: format }, RULES));
      const text = await response.text();
      expect(response.status, text).toBe(200);
      expect(text).toContain('Welcome to Voxgate.');
      expect(text).toContain('Voxgate is going to listen.');
      expect(text).not.toMatch(/vox gate|gonna|um/i);
    },
  );

  it('come as lists of fields as well', async () => {
    for (const request of [form({}, RULES, 'replace[]'), form({}, [JSON.stringify(RULES)])]) {
      const response = await as(live.key, '/v1/audio/transcriptions', request);
      expect(await response.json()).toMatchObject({ text: REPLACED.join(' ') });
    }
  });

  it('apply to a stream, whose deltas are its text', async () => {
    const response = await as(live.key, '/v1/audio/transcriptions', form({ stream: 'true' }, RULES));
    const events = (await response.text())
      .split('\n\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line.replace('data: ', '')) as { type: string; delta?: string; text?: string });
    expect(events.map(({ delta = '' }) => delta).join('')).toBe(REPLACED.join(' '));
    expect(events.at(-1)).toMatchObject({ type: 'transcript.text.done', text: REPLACED.join(' ') });
  });

  it('of a key apply, and to a job too, whose results all say the same', async () => {
    const response = await as(keyWithRules, '/v1/audio/transcriptions', form({}));
    expect(await response.json()).toMatchObject({ text: REPLACED.join(' ') });
    const job = await as(live.key, '/v1/jobs', form({}, RULES));
    const { id } = (await job.json()) as { id: string };
    const result = () => as(live.key, `/v1/jobs/${id}/result`);
    await expect.poll(async () => (await result()).status, { timeout: 10_000 }).toBe(200);
    expect(await (await result()).json()).toMatchObject({ text: REPLACED.join(' ') });
  });

  it('are the same under an idempotency key, and a request with others is another', async () => {
    const headers = { 'Idempotency-Key': 'replacements-1' };
    const once = async (rules: readonly string[]) => {
      const response = await as(live.key, '/v1/audio/transcriptions', { ...form({}, rules), headers });
      return [response.status, ((await response.json()) as { text?: string }).text];
    };
    expect(await once(RULES)).toEqual([200, REPLACED.join(' ')]);
    expect(await once(RULES)).toEqual([200, REPLACED.join(' ')]);
    expect((await once(RULES.slice(1)))[0]).toBeGreaterThanOrEqual(400);
  });

  it('are refused by name', async () => {
    const response = await as(live.key, '/v1/audio/transcriptions', form({}, ['no colon']));
    expect([response.status, await response.json()]).toMatchObject([400, { error: { param: 'replace' } }]);
  });
});

describe('rules in an address', () => {
  it('may be repeated, and are named where they are wrong', async () => {
    const address = (rules: readonly string[]) => {
      const query = new URLSearchParams([
        ...Object.entries(SCRIPTED),
        ...rules.map((rule): [string, string] => ['replace', rule]),
      ]);
      return `${live.url.replace('http', 'ws')}/v1/listen?${query}`;
    };
    const headers = { Authorization: `Bearer ${live.key}` };
    const texts = await saidTo(address(RULES), headers, '{"type":"close"}');
    expect(finalsOf(texts.map((text) => JSON.parse(text)))).toEqual([...REPLACED, '']);
    const socket = new WebSocket(address(['a:b', 'c']), { headers });
    const [, response] = await once(socket, 'unexpected-response');
    expect(response.statusCode).toBe(400);
  });
});

/** What a socket says to the audio and this message. */
async function saidTo(url: string, headers: Record<string, string>, end: string): Promise<string[]> {
  const socket = new WebSocket(url, { headers });
  const texts: string[] = [];
  socket.on('message', (data) => texts.push(String(data)));
  await once(socket, 'open');
  socket.send(AUDIO);
  socket.send(end);
  await once(socket, 'close');
  return texts;
}

describe('clients of Deepgram', () => {
  it('have their own `replace` and the rules of their key applied', async () => {
    const query = `model=scripted&encoding=linear16&sample_rate=16000&replace=welcome:Hello&replace=listen`;
    const url = `${live.url.replace('http', 'ws')}/compat/deepgram/v1/listen?${query}`;
    const texts = await saidTo(url, { Authorization: `Token ${keyWithRules}` }, '{"type":"CloseStream"}');
    expect(texts.join()).toContain('Hello to Voxgate.');
    expect(texts.join()).toContain('Voxgate is going to.');
  });
});
