// `voxgate keys` as an operator meets it: settings given, changed and taken away, rolls and revocations.
import { describe, expect, it } from 'vitest';
import { voxgate } from '../fakes/processes/voxgate.ts';
import { temporaryDirectory } from '../fakes/temporary-directory.ts';

const SECRET = /^sk_vox_[0-9A-Za-z]{38}$/;

function operator() {
  const env = { VOXGATE_DATA_DIRECTORY: temporaryDirectory() };
  const commands = (args: readonly string[]) => voxgate(args, env);
  const run = (...args: string[]) => commands(['keys', ...args]);
  const good = async (...args: string[]) => {
    const { code, output, errors } = await run(...args);
    expect([args, code, errors]).toEqual([args, 0, errors]);
    return output.trim();
  };
  const list = async (...args: string[]) =>
    JSON.parse(await good('list', '--json', ...args)) as ({ id: string; organisationId: string } & Record<
      string,
      unknown
    >)[];
  return { commands, run, good, list };
}

const SETTINGS = [
  ...['--name', 'Front desk', '--scope', 'tokens,listen', '--model', 'deepgram/nova-3', '--model', 'local/*'],
  ...['--origin', 'https://app.example.com,http://localhost:3000', '--expires', '2090-12-31'],
  ...['--tag', 'customer:acme,project:x', '--tag', 'team:blue'],
  ...['--requests-per-minute', '60', '--sessions', '5', '--tokens-per-minute', '10', '--daily-spend', '2.5'],
  ...['--spend-ceiling', '5/hour,deepgram:20.50/month', '--spend-ceiling', '100/day:only_up_to=0.005'],
];
const GIVEN = {
  name: 'Front desk',
  scopes: ['listen', 'tokens'],
  models: ['deepgram/nova-3', 'local/*'],
  origins: ['https://app.example.com', 'http://localhost:3000'],
  expiresAt: '2090-12-31T00:00:00.000Z',
  requestsPerMinuteMax: 60,
  sessionsMax: 5,
  tokensPerMinuteMax: 10,
  spendCeilings: [
    { usd: '5', period: 'hour' },
    { usd: '20.50', period: 'month', provider: 'deepgram' },
    { usd: '100', period: 'day' },
  ],
  dailySpendUsdMax: '2.50',
  tags: { customer: 'acme', project: 'x', team: 'blue' },
};
const UNLIMITED = {
  scopes: ['listen', 'transcribe', 'tokens'],
  models: null,
  origins: null,
  expiresAt: null,
  requestsPerMinuteMax: null,
  sessionsMax: null,
  tokensPerMinuteMax: null,
  dailySpendUsdMax: null,
  tags: null,
};

describe('voxgate keys', () => {
  it('gives the first key of an empty directory, and any other, all of the settings', async () => {
    const { good, list } = operator();
    expect(await good('create', '--init', ...SETTINGS)).toMatch(SECRET);
    expect(await good('create', '--init', ...SETTINGS)).toMatch(SECRET);
    expect(await good('create', '--init', '--name', 'plain')).toMatch(SECRET);
    expect(await list()).toMatchObject([GIVEN, GIVEN, { ...UNLIMITED, name: 'plain' }]);
  });

  it('changes what is named and nothing else, and takes limits away with none', async () => {
    const { good, list } = operator();
    await good('create', '--init', ...SETTINGS);
    const { id } = (await list())[0]!;
    await good('change', id, '--sessions', '6');
    expect(await list()).toMatchObject([{ ...GIVEN, sessionsMax: 6 }]);
    const limits = [
      'model',
      'origin',
      'expires',
      'requests-per-minute',
      'sessions',
      'tokens-per-minute',
      'daily-spend',
      'tag',
      'spend-ceiling',
    ];
    await good(
      'change',
      id,
      '--scope',
      'listen,transcribe',
      '--scope',
      'tokens',
      ...limits.flatMap((name) => [`--${name}`, 'none']),
    );
    expect(await list()).toMatchObject([{ ...UNLIMITED, name: 'Front desk' }]);
  });

  it('gives keys and organisations aliases of models, changes them and takes them away', async () => {
    const { commands, good, list } = operator();
    await good('create', '--init');
    const { id, organisationId: org } = (await list())[0]!;
    const chain = [{ model: 'deepgram/nova-3', provider_params: { punctuate: true } }, { model: 'local/commands-en' }];
    expect(await good('alias', id, 'best', 'deepgram/nova-3, local/commands-en')).toBe(
      `${id} takes best for deepgram/nova-3, then local/commands-en.`,
    );
    await good('alias', id, 'best', JSON.stringify(chain));
    await good('alias', id, 'fast', 'local/commands-en');
    expect((await commands(['orgs', 'alias', org, 'best', 'openai/whisper-1'])).output).toContain('takes best for');
    const fast = [{ model: 'local/commands-en' }];
    const ofAll = { best: [{ model: 'openai/whisper-1' }] };
    expect(await list()).toMatchObject([{ aliases: { best: chain, fast }, organisationAliases: ofAll }]);
    expect(await good('alias', id, 'best', 'none')).toBe(`${id} has no alias best.`);
    expect((await commands(['orgs', 'alias', org, 'best', 'none'])).code).toBe(0);
    expect(await list()).toMatchObject([{ aliases: { fast }, organisationAliases: null }]);
    expect((await commands(['orgs', 'alias', 'org_none', 'best', 'none'])).code).toBe(1);
  });

  it('makes keys for the organisation that is named, and lists those of one', async () => {
    const { commands, good, list } = operator();
    await good('create', '--init');
    const org = (await commands(['orgs', 'create', 'Other', '--init'])).output.trim();
    await good('create', '--init', '--org', org, '--name', 'theirs');
    expect(await list()).toHaveLength(2);
    expect(await list('--org', org)).toMatchObject([{ name: 'theirs', organisationId: org }]);
  });

  it('rolls a key to a new one with the same settings, and the old one works for its grace or not at all', async () => {
    const { good, list, run } = operator();
    await good('create', '--init', ...SETTINGS);
    const { id } = (await list())[0]!;
    const rolled = await run('roll', id, '--grace', '90m');
    expect(rolled).toMatchObject({ code: 0, output: expect.stringMatching(/^sk_vox_\w+\n$/) });
    const [old, fresh] = await list();
    expect(fresh).toMatchObject({ ...GIVEN, revokedAt: null });
    expect(old).toMatchObject({ rolledTo: fresh!.id, revokedAt: null });
    expect(Date.parse(String(old!.graceUntil)) - Date.parse(String(fresh!.createdAt))).toBeCloseTo(90 * 60_000, -4);

    expect((await run('roll', fresh!.id, '--grace', '0')).code).toBe(0);
    expect((await list())[1]!.revokedAt).toEqual(expect.stringMatching(/Z$/));
    const again = await run('roll', fresh!.id);
    expect(again).toMatchObject({
      code: 1,
      output: '',
      errors: expect.stringMatching(/^voxgate: [^\n]*not in use[^\n]*\.\n$/),
    });
  });

  it('shows a secret once: no list, and no error, shows it again', async () => {
    const { good, run, list } = operator();
    const secret = await good('create', '--init');
    const { id } = (await list())[0]!;
    const shown = [
      await run('list'),
      await run('list', '--json'),
      await run('revoke', id),
      await run('change', secret, '--name', 'x'),
    ];
    for (const { output, errors } of shown)
      expect(output + errors.replace(secret, '')).not.toContain(secret.slice(11, -4));
  });

  it('says that there is no such key, and ends with 1', async () => {
    const { good, run } = operator();
    await good('create', '--init');
    const lines = [
      ['change', 'key_none', '--name', 'x'],
      ['roll', 'key_none'],
      ['alias', 'key_none', 'best', 'none'],
      ['revoke', 'key_none'],
    ];
    for (const args of lines) {
      const { code, errors } = await run(...args);
      expect([args, code]).toEqual([args, 1]);
      expect(errors).toMatch(/^voxgate: there is no key key_none[^\n]*\.\n$/);
    }
  });
});
