// `voxgate reconcile`: exports as providers document them, and their interfaces, against what a ledger has counted.

import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { SentAgain } from '../../src/money/store/calls.ts';
import { openSqliteStore } from '../../src/node/store/sqlite-store.ts';
import { voxgate } from '../fakes/processes/voxgate.ts';
import { endOf, headOf, lineOf, OPERATOR, perMinute } from '../fakes/store/ledger.ts';
import { temporaryDirectory } from '../fakes/temporary-directory.ts';

const DAY = '2026-11-21';
const DAY_SECONDS = Date.parse(`${DAY}T00:00:00Z`) / 1000;
const directory = temporaryDirectory();
let env: Record<string, string>;
const run = (...args: string[]) => voxgate(['reconcile', ...args], env);
/** Without the space that aligns columns. */
const lines = (output: string) =>
  output
    .trim()
    .split('\n')
    .map((line) => line.replace(/ {2,}/g, ' | '));

function fileOf(name: string, content: string | object): string {
  const path = join(directory, name);
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content));
  return path;
}

/** What the simulated services were asked, with which credential. */
const asked: string[] = [];

const DEEPGRAM = {
  start: DAY,
  end: '2026-11-22',
  resolution: { units: 'day', amount: 1 },
  results: [
    { hours: 0.05, total_hours: 0.05, requests: 2, grouping: { start: DAY, end: '2026-11-22', models: 'nova-3' } },
  ],
};
const OPENAI_USAGE = {
  object: 'page',
  data: [
    {
      object: 'bucket',
      start_time: DAY_SECONDS,
      end_time: DAY_SECONDS + 86_400,
      results: [
        {
          object: 'organization.usage.audio_transcriptions.result',
          seconds: 60,
          num_model_requests: 1,
          project_id: null,
          model: 'whisper-1',
        },
      ],
    },
  ],
  has_more: false,
  next_page: null,
};
const costs = (value: number | string, lineItem: string, more: object = {}) => ({
  object: 'page',
  data: [
    {
      object: 'bucket',
      start_time: DAY_SECONDS,
      end_time: DAY_SECONDS + 86_400,
      results: [
        {
          object: 'organization.costs.result',
          amount: { value, currency: 'usd', ...more },
          line_item: lineItem,
          project_id: null,
        },
      ],
    },
  ],
  has_more: false,
  next_page: null,
});

/** Services that speak the documented shapes. */
function answerOf(path: string): object | undefined {
  const url = new URL(path, 'http://service');
  const { pathname, searchParams } = url;
  if (pathname === '/v1/projects') return { projects: [{ project_id: 'p 1', name: 'ours' }] };
  if (pathname === '/v1/projects/p%201/usage/breakdown') return DEEPGRAM;
  if (pathname === '/v1/projects/p%201/billing/breakdown')
    return {
      ...{ start: DAY, end: DAY, resolution: { units: 'day', amount: 1 } },
      results: [{ dollars: 0.0231, grouping: { start: DAY, end: DAY, line_item: 'streaming::nova-3' } }],
    };
  if (pathname === '/v1/organization/usage/audio_transcriptions') {
    if (searchParams.get('page') === 'page_2') return OPENAI_USAGE;
    return { object: 'page', data: [], has_more: true, next_page: 'page_2' };
  }
  if (pathname === '/v1/organization/costs') return costs('0.006', 'whisper-1, audio');
  if (pathname === '/v2/usage')
    return {
      ...{ since: searchParams.get('since'), until: searchParams.get('until'), summary: [] },
      details: [
        {
          mode: 'batch',
          type: 'transcription',
          language: 'en',
          operating_point: 'enhanced',
          count: 1,
          duration_hrs: 0.01,
        },
      ],
    };
  return undefined;
}

beforeAll(async () => {
  const server = createServer((request, response) => {
    asked.push(`${request.headers.authorization} ${request.url}`);
    const answer = answerOf(request.url ?? '');
    response
      .writeHead(answer === undefined ? 403 : 200)
      .end(JSON.stringify(answer ?? { error: 'a secret of the key' }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  afterAll(() => server.close());
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  env = {
    VOXGATE_DATA_DIRECTORY: directory,
    VOXGATE_DEEPGRAM_URL: url,
    DEEPGRAM_API_KEY: 'dg-key',
    VOXGATE_OPENAI_URL: url,
    VOXGATE_SPEECHMATICS_URL: url,
    SPEECHMATICS_API_KEY: 'sm-key',
  };
  const store = await openSqliteStore({ directory });
  const { id: organisationId } = await store.createOrganisation('Ours', null, OPERATOR);
  const { key } = await store.createKey(organisationId, {}, OPERATOR);
  const who = { organisationId, keyId: key.id };
  const settle = (id: string, model: string, audioMs: number, sentAgain: SentAgain[] = [], own = false) =>
    store.settleSession(
      headOf(who, id, { model, mode: id.startsWith('req') ? 'batch' : 'live' }),
      endOf([lineOf(audioMs, perMinute(9_000n), { model, own })], { sentAgain }),
    );
  const failed = { model: 'deepgram/nova-3', own: false, reason: 'failed', legs: 1, audioMs: 58_000 } as const;
  await settle('ses_1', 'deepgram/nova-3', 120_000, [failed]);
  await settle('ses_2', 'deepgram/nova-3', 600_000, [], true);
  await settle('req_1', 'openai/whisper-1', 60_000);
  await settle('req_2', 'speechmatics/enhanced', 36_000);
  await store.close();
});

describe('voxgate reconcile', () => {
  it('explains an export of Deepgram by failed legs, rounding and own keys', async () => {
    const { code, output } = await run('deepgram', fileOf('deepgram.json', DEEPGRAM));
    expect(lines(output)[0]).toBe('DAY | MODEL | DEEPGRAM, S | CHARGED, S | DEEPGRAM, USD | OURS, USD | DIFFERENCE');
    expect(output).toContain("failed legs 58.0 s; rounding; own keys 600.0 s, on customers' bills");
    expect(output).not.toContain('unexplained');
    expect(code).toBe(0);
  });

  it('reads usage and costs of OpenAI from two files, and leaves out what does not transcribe', async () => {
    const other = {
      object: 'page',
      data: [{ ...costs(1, 'x').data[0], results: [{ object: 'organization.usage.completions.result' }] }],
    };
    const files = [fileOf('usage.json', [OPENAI_USAGE, other]), fileOf('costs.json', costs(0.006, 'whisper-1'))];
    const { code, output } = await run('openai', ...files, '--json');
    expect(code).toBe(0);
    expect(JSON.parse(output)).toMatchObject({
      provider: 'openai',
      isExplained: true,
      rows: [
        { model: 'whisper-1', vendor: { seconds: 60, usd: '0.006' }, ours: { chargedMs: 60_000, chargedUsd: '0.006' } },
      ],
    });
  });

  it('ends with 1 and says what is left where a provider billed more', async () => {
    const csv = fileOf('more.csv', `day,model,seconds,amount\n${DAY},whisper-1,600,0.06\n`);
    const { code, output } = await run('openai', csv);
    expect(code).toBe(1);
    expect(output).toContain('unexplained +539.0 s');
    expect((await run('openai', csv, '--tolerance', '100')).code).toBe(0);
  });

  it.each([
    ['deepgram', 'Token dg-key', [], 0],
    ['openai', 'Bearer admin-key', ['--key-file'], 0],
    ['speechmatics', 'Bearer sm-key', [], 0],
  ] as const)('asks %s for its report', async (provider, credential, options, expected) => {
    asked.length = 0;
    const key = options.length === 0 ? [] : [...options, fileOf('admin', 'admin-key\n')];
    const { code, output, errors } = await run(provider, '--api', '--from', DAY, '--to', DAY, ...key);
    expect([errors, code]).toEqual(['', expected]);
    expect(asked.length).toBeGreaterThan(0);
    for (const each of asked) expect(each.startsWith(`${credential} `)).toBe(true);
    expect(output).toContain(DAY);
    expect(output).not.toContain('unexplained');
  });

  it('says which file to export where a provider has no interface, refuses the key, or none is configured', async () => {
    expect(await run('groq', '--api')).toMatchObject({ code: 1, errors: expect.stringContaining('Export it as CSV') });
    expect(await run('openai', '--api')).toMatchObject({ code: 1, errors: expect.stringContaining('--key-file') });
    const refused = await voxgate(['reconcile', 'deepgram', '--api', '--from', DAY, '--to', DAY], {
      ...env,
      VOXGATE_DEEPGRAM_URL: `${env.VOXGATE_DEEPGRAM_URL}/nowhere`,
    });
    expect(refused.errors).toContain('answered 403. Export a file instead');
    expect(refused.errors).not.toContain('secret');
    const silent = { ...env, VOXGATE_DEEPGRAM_URL: 'http://127.0.0.1:9' };
    expect((await voxgate(['reconcile', 'deepgram', '--api'], silent)).errors).toContain('did not answer');
  });

  it.each<[string, string | object, string]>([
    ['cut off', '{"object": "page", "da', 'cut off'],
    ['of another provider', DEEPGRAM, 'not a report of openai'],
    ['in another currency', costs(1, 'whisper-1', { currency: 'eur' }), 'Export it in USD'],
    ['with an amount that is no number', costs('=1+1', 'whisper-1'), 'must be a number of USD'],
    ['deeply nested', `${'['.repeat(100_000)}${']'.repeat(100_000)}`, 'not a report'],
    [
      'with a time that is none',
      { object: 'page', data: [{ start_time: 'today', end_time: 1, results: [] }] },
      'since 1970',
    ],
    ['without usage', { object: 'page', data: [] }, 'no usage'],
  ])('refuses an export %s', async (_, content, words) => {
    const { code, errors } = await run('openai', fileOf('hostile.json', content));
    expect([code, errors]).toEqual([1, expect.stringContaining(words)]);
  });

  it('refuses overlapping files, and arguments that fit nothing', async () => {
    const csv = fileOf('one.csv', `day,seconds\n${DAY},60\n`);
    const again = fileOf('two.csv', `day,seconds\n${DAY},60\n`);
    expect((await run('openai', csv, again)).errors).toContain('is reported twice');
    for (const args of [
      [],
      ['nothing', csv],
      ['openai'],
      ['openai', csv, '--api'],
      ['openai', csv, '--tolerance', '200'],
      ['openai', csv, '--key-file', csv],
      ['openai', csv, '--from', 'today'],
      ['openai', csv, '--from', '2026-11-22', '--to', DAY],
    ])
      expect([args, (await run(...args)).code]).toEqual([args, 64]);
    expect((await run('openai', join(directory, 'missing.csv'))).errors).toContain('there is no file');
  });
});
