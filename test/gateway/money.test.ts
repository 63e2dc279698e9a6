// Money as a client of a whole gateway meets it: a file that is paid for once, also across a restart, and what is told of it.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { wavOf } from '../fakes/audio/audio-files.ts';
import { type LiveGateway, startLiveGateway } from '../fakes/processes/live-gateway.ts';
import { temporaryDirectory } from '../fakes/temporary-directory.ts';

const SENTENCE = 'never to be read in the database';

function send(live: LiveGateway, key: string, idempotencyKey: string): Promise<Response> {
  const form = new FormData();
  form.append('model', 'loopback/script');
  form.append('response_format', 'verbose_json');
  form.append('provider_params', JSON.stringify({ turns: [{ text: SENTENCE, seconds: 30 }] }));
  form.append('file', new Blob([wavOf(16_000 * 2 * 30)], { type: 'audio/wav' }), 'a.wav');
  return fetch(`${live.url}/v1/audio/transcriptions`, {
    method: 'POST',
    body: form,
    headers: { Authorization: `Bearer ${key}`, 'Idempotency-Key': idempotencyKey },
  });
}

it('charges a file once for its key, across a restart, and every account agrees', async () => {
  const directory = temporaryDirectory();
  const prices = join(directory, 'prices.json');
  writeFileSync(prices, JSON.stringify({ 'loopback/script': { batch: { unit: 'minute', amount: '0.60' } } }));
  const env = { VOXGATE_DATA_DIRECTORY: directory, VOXGATE_PRICES_FILE: prices };
  const first = await startLiveGateway(env);
  const { key } = first;
  const answer = await send(first, key, 'one file');
  const text = await answer.text();
  const said = JSON.parse(text);
  expect([answer.status, said.usage]).toEqual([200, { type: 'duration', seconds: 30, cost_usd: '0.30', byok: false }]);
  expect(text).toContain(SENTENCE);
  first.gateway.stop();
  await first.gateway.ended;

  const second = await startLiveGateway(env);
  const again = await send(second, key, 'one file');
  expect([again.status, again.headers.get('idempotency-replayed'), await again.text()]).toEqual([200, 'true', text]);
  const ask = async (path: string) => {
    const response = await fetch(`${second.url}${path}`, { headers: { Authorization: `Bearer ${key}` } });
    return response.json();
  };
  expect(await ask(`/v1/sessions/${said.request_id}`)).toMatchObject({
    state: 'ended',
    mode: 'batch',
    reason: 'completed',
    audio_seconds: 30,
    usage: [{ model: 'loopback/script', seconds: 30, cost_usd: '0.30', byok: false }],
    held_usd: '0.00',
  });
  expect(await ask('/v1/balance')).toMatchObject({ balance_usd: '-0.30', held_usd: '0.00', available_usd: null });
  expect(await ask('/v1/usage')).toMatchObject({
    data: [{ group: 'loopback/script', sessions: 1, audio_seconds: 30, cost_usd: '0.30' }],
    total: { audio_seconds: 30, cost_usd: '0.30' },
  });
  const month = new Date().toISOString().slice(0, 7);
  expect(await ask(`/v1/bills/${month}`)).toMatchObject({ total_usd: '0.30', closing_balance_usd: '-0.30' });
  second.gateway.stop();
  await second.gateway.ended;
  const files = readdirSync(directory).filter((name) => name.startsWith('voxgate.db'));
  expect(files).toContain('voxgate.db');
  for (const file of files) expect(readFileSync(join(directory, file)).includes(SENTENCE)).toBe(false);
});
