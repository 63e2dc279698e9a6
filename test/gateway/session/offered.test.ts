// What a gateway offers to a new user: nothing that recognises nothing, and TLS for good where there is TLS.
import { expect, it } from 'vitest';
import { startLiveGateway } from '../../fakes/processes/live-gateway.ts';

it('hides the test models unless the configuration enables them', async () => {
  const live = await startLiveGateway({ VOXGATE_LOOPBACK: 'off' });
  const list = (await (await live.request('/v1/models')).json()) as { data: { id: string }[] };
  expect(list.data.filter(({ id }) => id.startsWith('loopback/'))).toEqual([]);
  expect(list.data.some(({ id }) => id.startsWith('local/'))).toBe(true);
  const one = await live.request('/v1/models/loopback/script');
  expect([one.status, ((await one.json()) as { error: { code: string } }).error.code]).toEqual([
    404,
    'model_not_found',
  ]);
  const form = new FormData();
  form.set('model', 'loopback/script');
  form.set('file', new Blob([new Uint8Array(100)]), 'a.wav');
  const file = await live.request('/v1/audio/transcriptions', { method: 'POST', body: form });
  const { error } = (await file.json()) as { error: { code: string; message: string } };
  expect([file.status, error.code]).toEqual([404, 'model_not_found']);
  const { status, body } = await live.connect({ model: 'local/commands-en', fallbacks: 'loopback/numbered' }).refused();
  expect([status, JSON.parse(body).error.code]).toEqual([404, 'model_not_found']);
  expect(body.includes('loopback/script')).toBe(false);
  for (const path of ['/', '/openapi.json', '/asyncapi.json', '/docs', '/docs/live'])
    expect((await (await live.request(path, { headers: { Accept: 'text/html' } })).text()).includes('loopback/')).toBe(
      false,
    );
});

it.each<[string, Record<string, string>, Record<string, string>, boolean]>([
  ['a public URL with https', { VOXGATE_PUBLIC_URL: 'https://stt.example.com' }, {}, true],
  [
    'a trusted proxy that was reached by https',
    { VOXGATE_TRUSTED_PROXIES: '127.0.0.1,::1' },
    { 'X-Forwarded-Proto': 'https' },
    true,
  ],
  ['a client that claims so', {}, { 'X-Forwarded-Proto': 'https' }, false],
])('%s: sends HSTS in every answer, or in none', async (_, env, headers, expected) => {
  const live = await startLiveGateway(env);
  for (const path of ['/v1/models', '/healthz', '/docs', '/nothing']) {
    const answer = await live.request(path, { headers });
    expect(answer.headers.has('strict-transport-security')).toBe(expected);
  }
});
