// `GET /`: what a browser and a terminal are shown, to whom what is set up is shown, and that nothing of it comes from elsewhere.
import { describe, expect, test } from 'vitest';
import * as client from '../../../clients/typescript/src/index.ts';
import type { ClientModule } from '../../../src/edge/routes/home/page-script.ts';
import { startLiveGateway } from '../../fakes/processes/live-gateway.ts';

const HTML = { Accept: 'text/html,application/xhtml+xml,*/*;q=0.8' };
const alone = await startLiveGateway({ DEEPGRAM_API_KEY: 'a-key-of-deepgram' });
const open = await startLiveGateway({ VOXGATE_PUBLIC_URL: 'https://stt.example.com', DEEPGRAM_API_KEY: 'a-key' });

const get = async (url: string, headers: Record<string, string> = HTML) => {
  const answer = await fetch(url, { headers });
  return { answer, text: await answer.text() };
};

/** The page script's idea of the client is the client's own. */
client satisfies ClientModule;

describe('the first page', () => {
  test('tells a browser on this machine the state, what is set up and where to go on', async () => {
    const { answer, text } = await get(`${alone.url}/`);
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
    expect(text).toContain('<strong>ready</strong>');
    expect(text).toMatch(/Deepgram \(<code>deepgram\/…<\/code>\)<\/td><td[^>]*>has a key/);
    expect(text).toMatch(/no key: set <code>ASSEMBLYAI_API_KEY<\/code>/);
    expect(text).toContain('href="/console/outbox"');
    expect(text).toContain('VOXGATE_TLS_CERT_FILE');
    expect(text).not.toContain('a-key-of-deepgram');
    const links = [...text.matchAll(/ (?:href|src)="([^"]+)"/g)].map(([, link = '']) => link);
    expect(links.filter((link) => !link.startsWith('/'))).toEqual([]);
    const answers = await Promise.all(links.map((link) => fetch(`${alone.url}${link}`)));
    expect(answers.filter(({ status }) => status !== 200).map(({ url }) => url)).toEqual([]);
  });

  test('offers the models that take speech without a word of setting', async () => {
    const { text } = await get(`${alone.url}/`);
    const models = [...text.matchAll(/<option value="([^"]+)"/g)].map(([, id]) => id);
    expect(models).toEqual(['local/commands-en', 'local/digits-en', 'local/commands-fr']);
  });

  test('tells nobody else what is set up, and leads to no place that is shut', async () => {
    const { text } = await get(`${open.url}/`);
    expect(text).toContain('<strong>ready</strong>');
    expect(text).not.toMatch(/Deepgram|_API_KEY|outbox|\/metrics/);
    const forwarded = await get(`${alone.url}/`, { ...HTML, 'X-Forwarded-For': '203.0.113.9' });
    expect(forwarded.text).not.toMatch(/Deepgram|_API_KEY|outbox|\/metrics/);
  });

  test('lets a browser run its own scripts, ask this gateway, and nothing else', async () => {
    const { answer } = await get(`${open.url}/`);
    expect(answer.headers.get('content-security-policy')).toMatch(
      /^default-src 'none'; style-src 'sha256-[\w+/]{43}='; img-src 'self'; script-src 'self'; connect-src 'self' wss:\/\/stt\.example\.com; base-uri 'none'; form-action 'none'; frame-ancestors 'none'$/,
    );
    expect(answer.headers.get('permissions-policy')).toBe('microphone=(self)');
    expect((await get(`${open.url}/`)).text).not.toMatch(
      /<script(?! type="module" src="\/first-page\/)| on\w+=| style=/,
    );
  });

  test('is a few lines in a terminal', async () => {
    for (const headers of [{}, { Accept: '*/*' }, { Accept: 'application/json' }]) {
      const { answer, text } = await get(`${alone.url}/`, headers);
      expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'text/plain; charset=utf-8']);
      expect(answer.headers.get('vary')).toBe('Accept');
      expect(text).toMatch(/^Voxgate \S+, ready\n/);
      expect(text).toContain(`POST ${alone.url}/v1/audio/transcriptions`);
      expect(text.split('\n').every((line) => line.length <= 80)).toBe(true);
    }
  });
});

test('its icon is small, kept by browsers, and asked for by none in vain', async () => {
  const { answer, text } = await get(`${alone.url}/favicon.ico`);
  expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'image/svg+xml']);
  expect(answer.headers.get('cache-control')).toBe('public, max-age=86400');
  expect(text).toMatch(/^<svg .{100,500}<\/svg>$/);
});

describe('its scripts', () => {
  test('are the compiled client and no other file, revalidated by their tag', async () => {
    const { answer, text } = await get(`${alone.url}/client/index.js`);
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'text/javascript; charset=utf-8']);
    expect(text).toContain('Voxgate');
    expect(text).not.toContain('sourceMappingURL');
    const tag = answer.headers.get('etag') ?? '';
    expect((await get(`${alone.url}/client/index.js`, { 'If-None-Match': tag })).answer.status).toBe(304);
    for (const path of ['client/index.ts', 'client/..%2Findex.js', 'client/live/nothing.js', 'first-page/index.js']) {
      expect([path, (await get(`${alone.url}/${path}`)).answer.status]).toEqual([path, 404]);
    }
  });
});

describe('where no mail reaches anybody', () => {
  const signUp = (url: string) =>
    fetch(`${url}/console/api/sign-up`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', 'X-Requested-With': 'console', 'Sec-Fetch-Site': 'same-origin' },
      body: JSON.stringify({ email: 'somebody@example.com', password: 'a long enough password' }),
    });

  test('a sign-up is refused with a sentence, the page offers none, and the start warns of it', async () => {
    const answer = await signUp(open.url);
    const { error } = (await answer.json()) as { error: { code: string; message: string } };
    expect([answer.status, error.code]).toEqual([400, 'invalid_request']);
    expect(error.message).toContain('VOXGATE_SMTP_URL');
    expect((await get(`${open.url}/`)).text).not.toContain('Sign up');
    expect(open.log.filter((line) => line.includes('nobody can sign up'))).toHaveLength(1);
  });

  test('elsewhere it is not', async () => {
    expect((await get(`${alone.url}/console/outbox`)).text).toContain('load this page again');
    expect((await signUp(alone.url)).status).toBe(202);
    expect((await get(`${alone.url}/`)).text).toContain('Sign up');
    expect(alone.log.filter((line) => line.includes('nobody can sign up'))).toEqual([]);
    const closed = await startLiveGateway({ VOXGATE_HOST: '0.0.0.0', VOXGATE_SIGN_UPS_PER_ADDRESS_DAY_MAX: '0' });
    expect(closed.log.filter((line) => line.includes('nobody can sign up'))).toEqual([]);
  });
});
