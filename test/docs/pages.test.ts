// `/docs`: what the pages say is what the code does, in both directions; and nothing on them runs, or comes from elsewhere.
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { type IncomingMessage, request } from 'node:http';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { ERROR_CATALOGUE } from '../../src/api/error-catalogue.ts';
import { configFields } from '../../src/config/fields.ts';
import { closeCodes } from '../../src/docs/asyncapi.ts';
import { createDocuments } from '../../src/docs/documents.ts';
import { operations } from '../../src/docs/openapi.ts';
import { markdownPage } from '../../src/docs/pages/guides.ts';
import { escaped, inline, prose } from '../../src/runtime/html.ts';
import { providers } from '../../src/vendors/index.ts';
import type { Provider } from '../../src/vendors/kit/provider.ts';
import { loopback } from '../../src/vendors/loopback/index.ts';
import { startLiveGateway } from '../fakes/processes/live-gateway.ts';

const gateway = await startLiveGateway();
const { names } = createDocuments({ version: '', providers });
const paths = names.map((name) => (name === '' ? '/docs' : `/docs/${name}`));
const answers = new Map(
  await Promise.all(
    paths.map(async (path) => {
      const answer = await fetch(`${gateway.url}${path}`);
      return [path, { answer, html: await answer.text() }] as const;
    }),
  ),
);
const htmlOf = (path: string) => answers.get(path)?.html ?? '';
/** Without the colours of code. */
const plain = (html: string) => html.replaceAll(/<span class="hl-\w+">|<\/span>/g, '');
const idsIn = (html: string) => [...html.matchAll(/ id="([^"]*)"/g)].map(([, id]) => id as string);

describe.each(paths)('%s', (path) => {
  const { answer, html } = answers.get(path)!;

  test('opens for every reader in the console’s frame, with the gateway’s own files only', () => {
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
    expect(answer.headers.get('content-security-policy')).toBe(
      "default-src 'none'; script-src 'self'; style-src 'self'; font-src 'self'; img-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
    );
    const files = [...html.matchAll(/<(?:script|img|link)[^>]* (?:src|href)="([^"]*)"/g)].map(([, file]) => file);
    expect(files.length).toBeGreaterThan(2);
    expect(files.filter((file) => !/^\/console\/assets\/[\w-]+\.\w+$/.test(file ?? ''))).toEqual([]);
    const rest = html.replace(/<form class="search" role="search" action="\/docs\/search">/, '');
    expect(rest).not.toMatch(/<(?:iframe|object|form|svg|base|style)\b|<script(?![^>]* src=)| on\w+=| style=|@import/i);
    expect(html).toContain('name="viewport"');
  });

  test('leads to every other page, and back to the console', () => {
    const [, menu = ''] = /<nav aria-label="Documents">(.*?)<\/nav>/s.exec(html) ?? [];
    const linked = [...menu.matchAll(/ href="([^"]*)"/g)].map(([, link]) => link);
    expect(linked.sort()).toEqual([...paths].sort());
    expect(menu.match(/ aria-current="page"/g)?.length).toBe(1);
    expect(html).toContain('<a href="/">← Back to the console</a>');
  });

  test('contains no id twice, and links to existing places only', () => {
    const ids = idsIn(html);
    expect(ids.filter((id, at) => ids.indexOf(id) !== at)).toEqual([]);
    const links = [...html.matchAll(/ href="([^"]*)"/g)].map(([, link]) => link as string);
    const lost = links.filter((link) => {
      const [target = '', id] = link.split('#');
      if (['/', '/openapi.json', '/asyncapi.json'].includes(target) || target.startsWith('https://')) return false;
      if (target.startsWith('/console/assets/')) return false;
      const page = target === '' ? html : htmlOf(target);
      return page === '' || (id !== undefined && !idsIn(page).includes(id));
    });
    expect(lost).toEqual([]);
    expect(links.length).toBeGreaterThan(4);
  });

  test('closes every element that it opens', () => {
    const count = (pattern: RegExp) => (html.match(pattern) ?? []).length;
    for (const name of [
      'table',
      'tr',
      'td',
      'th',
      'code',
      'pre',
      'p',
      'ul',
      'li',
      'a',
      'h2',
      'h3',
      'div',
      'main',
      'nav',
    ]) {
      expect([name, count(new RegExp(`<${name}[ >]`, 'g'))]).toEqual([name, count(new RegExp(`</${name}>`, 'g'))]);
    }
  });
});

describe('the pages', () => {
  test('can be linked to at every error code, close code, setting and model', () => {
    const codes = [...Object.keys(ERROR_CATALOGUE), ...closeCodes().map(({ close }) => `${close}`)];
    expect(idsIn(htmlOf('/docs/reference/errors'))).toEqual(expect.arrayContaining(codes));
    const settings = configFields(['<provider>']).map(({ env }) => escaped(env));
    expect(idsIn(htmlOf('/docs/reference/configuration'))).toEqual(expect.arrayContaining(settings));
    // Loopback is for tests, and listed nowhere.
    const listed = providers.filter(({ name }) => name !== 'loopback');
    const models = listed.flatMap((provider) => provider.models.map(({ id }) => id));
    expect(idsIn(htmlOf('/docs/reference/models'))).toEqual(expect.arrayContaining(models));
  });

  test('match the project’s Markdown: every page, with the languages of its code', () => {
    const folder = join(import.meta.dirname, '../../docs');
    const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.md'));
    const written = files.map((name) => name.replace(/(?:^|\/)README\.md$|\.md$/, ''));
    expect([...names].sort()).toEqual([...written, 'live', 'rest'].sort());
    expect(htmlOf('/docs/guides/failover')).toContain(
      '<pre tabindex="0"><code class="language-sh">npm run <span class="hl-word">-s</span> voxgate -- demo',
    );
  });

  test('name this gateway in their examples', () => {
    expect(htmlOf('/docs/guides/first-transcription')).toContain(`curl ${gateway.url}/v1/audio/transcriptions`);
    expect(htmlOf('/docs/guides/live')).toContain(`${gateway.url.replace('http', 'ws')}/v1/listen?model=`);
  });

  test.each(operations)('contain a call of $id that names this gateway', ({ id, curl }) => {
    expect(idsIn(htmlOf('/docs/rest'))).toContain(id);
    // Some shells take a `?` outside quotes for a pattern of file names.
    expect(curl.replaceAll(/"[^"]*"|'[^']*'/g, '')).not.toMatch(/[?&*]/);
    expect(plain(htmlOf('/docs/rest'))).toContain(escaped(curl.replaceAll('{base}', gateway.url)));
  });

  test('say nothing of prices and of who may use what', () => {
    expect(htmlOf('/docs/reference/models')).not.toMatch(/USD|available"/);
  });
});

describe('the menu of a page', () => {
  test('lists its headings', () => {
    const html = htmlOf('/docs/guides/failover');
    const [, menu = ''] = /<nav class="here" aria-label="On this page">(.*?)<\/nav>/s.exec(html) ?? [];
    const linked = [...menu.matchAll(/href="#([^"]+)"/g)].map(([, id]) => id);
    expect(linked).toEqual([...html.matchAll(/<h2 id="([^"]+)"/g)].map(([, id]) => id));
    expect(linked.length).toBeGreaterThan(1);
  });
});

describe('the search', () => {
  const search = async (words: string, more = '') => {
    const answer = await fetch(`${gateway.url}/docs/search?q=${encodeURIComponent(words)}${more}`);
    return { status: answer.status, html: await answer.text() };
  };
  const linksOf = (html: string) => {
    const found = html.slice(html.indexOf('<ol class="found">'));
    return [...found.matchAll(/<li><a href="([^"]+)"/g)].map(([, link]) => link as string);
  };

  test('finds sections by their words, headings first, and leads to places that there are', async () => {
    const { html } = await search('Failover billed');
    const links = linksOf(html);
    expect(links.length).toBeGreaterThan(0);
    for (const link of links) {
      const [path = '', id] = link.split('#');
      expect([link, htmlOf(path) !== '' && (id === undefined || idsIn(htmlOf(path)).includes(id))]).toEqual([
        link,
        true,
      ]);
    }
    expect(linksOf((await search('simulated providers')).html)[0]).toBe('/docs/guides/simulators');
  });

  test.each([
    ['voxgate_port', '/docs/reference/configuration#VOXGATE_PORT'],
    ['insufficient_credit', '/docs/reference/errors#insufficient_credit'],
    ['deepgram/nova-3', '/docs/reference/models#deepgram/nova-3'],
  ])('leads by the name %s to its row', async (name, link) => {
    expect(linksOf((await search(name)).html)).toContain(link);
  });

  test('says when there is nothing, shows no markup of a query, and refuses what it does not know', async () => {
    expect((await search('quagga')).html).toContain('Nothing has <code>quagga</code> in it.');
    expect((await search('<script>alert(1)</script>')).html).not.toContain('<script>');
    expect((await search('')).html).toContain('Give a word or two.');
    expect((await search('a', '&page=2')).status).toBe(400);
    expect((await search('a'.repeat(201))).status).toBe(400);
  });
});

describe('the documents for programs', () => {
  test('llms.txt lists every page as Markdown, at this gateway', async () => {
    const text = await (await fetch(`${gateway.url}/llms.txt`)).text();
    expect(text).toMatch(/^# Voxgate\n\n> Voxgate is a speech-to-text gateway/);
    const links = [...text.matchAll(/\]\(([^)]+)\)/g)].map(([, link]) => link as string);
    expect(links.filter((link) => !link.startsWith(gateway.url))).toEqual([]);
    expect(links.length).toBe(names.length - 2 - 1 + 2);
    const answers = await Promise.all(links.map((link) => fetch(link)));
    expect(answers.filter(({ status }) => status !== 200).map(({ url }) => url)).toEqual([]);
    const pages = answers.filter(({ url }) => url.endsWith('.md'));
    expect(new Set(pages.map(({ headers }) => headers.get('content-type')))).toEqual(
      new Set(['text/markdown; charset=utf-8']),
    );
    expect(await pages[0]!.text()).toContain(`curl ${gateway.url}/v1/audio/transcriptions`);
  });
});

describe('the HTTP reference', () => {
  test('lists a form’s fields with the operation that takes it', () => {
    const html = htmlOf('/docs/rest');
    const operation = html.slice(html.indexOf('id="createTranscription"'), html.indexOf('id="createToken"'));
    for (const field of ['model', 'file', 'response_format', 'provider_params', 'diarization']) {
      expect(operation).toContain(`<code>${field}</code></td>`);
    }
  });

  test('names the parameter of a credential in the query, and says which pages may ask', () => {
    expect(htmlOf('/docs/live')).toContain('The query parameter <code>api_key</code>.');
    expect(htmlOf('/docs/rest')).toContain('query parameter <code>api_key</code>');
    expect(htmlOf('/docs/rest')).toContain('<code>Access-Control-*</code>');
  });
});

describe('documents', () => {
  const all = [...paths, '/openapi.json', '/asyncapi.json'];

  test.each(all)('%s may be read from every page, and is not sent again while it is the same', async (path) => {
    const first = await fetch(`${gateway.url}${path}`);
    const etag = first.headers.get('etag') ?? '';
    const cached = path.startsWith('/docs') ? 'private, max-age=300' : 'public, max-age=300';
    const { headers } = first;
    expect([headers.get('access-control-allow-origin'), headers.get('cache-control')]).toEqual(['*', cached]);
    const again = await fetch(`${gateway.url}${path}`, { headers: { 'If-None-Match': `"other", W/${etag}` } });
    expect([again.status, await again.text(), again.headers.get('etag')]).toEqual([304, '', etag]);
    const changed = await fetch(`${gateway.url}${path}`, { headers: { 'If-None-Match': '"other"' } });
    expect(changed.status).toBe(200);
    const head = await fetch(`${gateway.url}${path}`, { method: 'HEAD' });
    expect([head.status, await head.text(), head.headers.get('etag')]).toEqual([200, '', etag]);
  });

  test('answer 404 for other names', async () => {
    for (const name of ['nothing', 'constructor', '__proto__', '%00', 'guides/nothing', 'guides']) {
      const answer = await fetch(`${gateway.url}/docs/${name}`);
      expect([name, answer.status]).toEqual([name, 404]);
    }
  });

  test('name the address that the operator gave, and never what a client made up', async () => {
    const made = request(`${gateway.url}/docs/guides/bills`, { headers: { host: 'a"b<c>' } });
    const [answer] = (await once(made.end(), 'response')) as [IncomingMessage];
    const html = Buffer.concat(await answer.toArray()).toString();
    expect(html).toContain('curl http://127.0.0.1:8080/v1/balance');
    const open = await startLiveGateway({ VOXGATE_PUBLIC_URL: 'https://stt.example.com/' });
    expect(await (await fetch(`${open.url}/docs/guides/bills`)).text()).toContain(
      'curl https://stt.example.com/v1/balance',
    );
    expect(await (await fetch(`${open.url}/docs/live`)).text()).toContain('wss://stt.example.com/v1/listen');
  });
});

describe('texts', () => {
  const hostile = '<script>alert("1")</script> & \'quotes\'';

  test('never become markup when they come from providers', () => {
    const [card] = loopback.models;
    const provider: Provider = {
      ...loopback,
      title: hostile,
      models: [{ ...card!, description: hostile, languages: [hostile] }],
    };
    const documents = createDocuments({ version: hostile, providers: [provider] });
    for (const name of names) {
      const { body } = documents.page(name, `http://${hostile}`)!;
      expect(body).not.toContain('<script>');
    }
  });

  test('never become markup in Markdown either, and link to allowed places only', () => {
    const text = `# A <b>title</b>

<!-- Made by a command. -->

## A \`code\` & more

## A \`code\` & more

Said ${hostile} <b>bold</b> [run](javascript:alert\\(1\\)) [there](guides/there.md#place) [file](../src/main.ts)

| name | what |
|---|---|
| \`<PROVIDER>_URL\` | ${hostile} |

\`\`\`sh" onload="x
<img>
\`\`\`
`;
    const { title, content } = markdownPage(text, (href) =>
      href.startsWith('guides/') ? { address: `/docs/${href}` } : { file: href.slice(3) },
    );
    expect(title).toBe('A <b>title</b>');
    expect(content).not.toMatch(/<(?:script|b|img)\b|href="javascript|onload="|Made by/);
    expect(idsIn(content)).toEqual(['a-code--more', 'a-code--more-1', '&lt;PROVIDER&gt;_URL']);
    expect(content).toContain('<a href="/docs/guides/there.md#place">there</a> file (<code>src/main.ts</code>)');
    expect(content).toContain('&lt;img&gt;');
  });

  test('keep code and links, and nothing else', () => {
    expect(inline('`<b>` & [a](/docs) [b](javascript:1) *c*')).toBe(
      '<code>&lt;b&gt;</code> &amp; <a href="/docs">a</a> [b](javascript:1) *c*',
    );
    expect(prose('one\n\ntwo')).toBe('<p>one</p>\n<p>two</p>');
  });
});
