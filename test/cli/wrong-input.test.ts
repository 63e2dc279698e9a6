// Wrong input of the operator's commands: one sentence, the usage, 64; and nothing is made of it.
import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { WrongInput } from '../../src/cli/shared/command.ts';
import {
  countValue,
  durationValue,
  listValue,
  signedUsdValue,
  timeValue,
  usdValue,
} from '../../src/cli/shared/values.ts';
import { voxgate } from '../fakes/processes/voxgate.ts';
import { temporaryDirectory } from '../fakes/temporary-directory.ts';

/** Arguments, and what the sentence must say. */
const WRONG: [string, string][] = [
  ['orgs', 'create, list, credit'],
  ['orgs found X', 'create, list, credit'],
  ['orgs create', 'NAME'],
  ['orgs create A B', 'NAME'],
  ['orgs create A --credit-limit lots', '"lots"'],
  ['orgs create A --credit-limit -1', '--credit-limit'],
  ['orgs create A --limit 1', '--limit'],
  ['orgs list all', 'nothing but options'],
  ['orgs credit org_1', 'ORG_ID and AMOUNT'],
  ['orgs credit org_1 0', 'not 0'],
  ['orgs credit org_1 -0.000000', 'not 0'],
  ['orgs credit org_1 1.0000001', 'six decimals'],
  ['orgs credit org_1 1e3', '"1e3"'],
  ['orgs credit org_1 12,50', '"12,50"'],
  ['orgs credit org_1 1 --key', '--key'],
  ['orgs limit org_1', 'USD|none'],
  ['orgs limit org_1 -5', '"-5"'],
  ['orgs suspend', 'ORG_ID'],
  ['keys', 'create, list, change'],
  ['keys create now', 'nothing but options'],
  ['keys create --scope listen,speak', '"speak"'],
  ['keys create --scope ,', '--scope'],
  ['keys create --model deepgram/nova-33', 'the nearest is deepgram/nova-3'],
  ['keys create --model deepgramm/*', 'deepgram/*'],
  ['keys create --origin https://app.example.com/path', 'https://app.example.com'],
  ['keys create --expires 2090-02-30', '"2090-02-30"'],
  ['keys create --expires 2020-01-01', 'future'],
  ['keys create --sessions 0', 'from 1'],
  ['keys create --requests-per-minute 1.5', '"1.5"'],
  ['keys create --tokens-per-minute x', '"x"'],
  ['keys create --daily-spend -1', '--daily-spend'],
  ['keys create --spend-ceiling 100', '"100"'],
  ['keys create --spend-ceiling 100/week', '"100/week"'],
  ['keys create --spend-ceiling nope:5/day', 'there is no provider "nope"'],
  ['orgs ceiling org_1 nope:5/day', 'there is no provider "nope"'],
  ['orgs ceiling org_1 lots/day', '"lots/day"'],
  ['orgs ceiling org_1 1/day:only_up_to=-1', '"1/day:only_up_to=-1"'],
  ['orgs ceiling org_1 1/day:only_up_to=NaN', '"1/day:only_up_to=NaN"'],
  ['orgs ceiling org_1 1/day:only_up_to=1e9', '"1/day:only_up_to=1e9"'],
  ['orgs ceiling org_1 1/day:refuse', '"1/day:refuse"'],
  ['keys change key_1', 'one setting'],
  ['keys change --name x', 'KEY_ID'],
  ['keys change key_1 --name x --org org_1', '--org'],
  ['keys roll key_1 --grace 73h', '72 hours'],
  ['keys roll key_1 --grace 1', '"1"'],
  ['keys roll key_1 --grace -1h', '--grace'],
  ['keys revoke', 'KEY_ID'],
  ['keys alias key_1 best', 'KEY_ID and NAME and MODELS|none'],
  ['keys alias key_1 best deepgram/nova-33', 'the nearest is deepgram/nova-3'],
  ['keys alias key_1 best deepgram/*', 'there is no model "deepgram/*"'],
  ['keys alias key_1 best deepgram/nova-3,', 'empty member'],
  ['keys alias key_1 best [{"slug":"deepgram/nova-3"}]', '{"model", "provider_params"?'],
  ['keys alias key_1 a/b deepgram/nova-3', 'always means that model'],
  ['keys alias key_1 a/b none', 'always means that model'],
  ['orgs alias org_1 best', 'ORG_ID and NAME and MODELS|none'],
  ['orgs alias org_1 -best deepgram/nova-3', '-b'],
  ['keys list --yaml', 'there is no option --yaml.'],
  ['keys create --modle x', 'there is no option --modle; the nearest is --model.'],
  ['keys create --regoin eu', 'the nearest is --region.'],
  ['keys create -x', 'there is no option -x.'],
  ['keys create --sessions -1', '--sessions needs a value; one that begins with a dash is written --sessions=-1.'],
  ['keys create --sessions=-1', '"-1"'],
  ['transcribe a.wav -o', '-o needs a value.'],
  ['ledger', 'audit, export, backup, accept, restore'],
  ['ledger audit now', 'nothing but options'],
  ['ledger export --after -1', '--after'],
  ['ledger export --after x', '"x"'],
  ['ledger backup', 'FILE'],
  ['ledger restore', 'FILE'],
  ['vault test org_1', 'ORG_ID and KEY_ID'],
  ['models --provider deepgrm', 'Did you mean deepgram?'],
  ['usage', 'ORG_ID'],
  ['usage org_1 org_2', 'ORG_ID'],
  ['usage org_1 --by hour', 'model, provider, day, key'],
  ['usage org_1 --by tag:Customer', 'tag:customer'],
  ['usage org_1 --tag acme', '--tag'],
  ['keys create --tag Customer:acme', 'the key "Customer"'],
  ['usage org_1 --from yesterday', '"yesterday"'],
  ['usage org_1 --from 2026-13-01', '"2026-13-01"'],
  ['usage org_1 --from 2026-02-01 --to 2026-01-01', 'is after'],
];

const directory = temporaryDirectory();
const run = (args: readonly string[]) => voxgate(args, { VOXGATE_DATA_DIRECTORY: directory });

it('ends with 64, one sentence and the usage for wrong input', async () => {
  for (const [line, words] of WRONG) {
    const { code, output, errors } = await run(line.split(' '));
    expect([line, code, output]).toEqual([line, 64, '']);
    expect(errors, line).toMatch(/^voxgate: [^\n]+\.\n\nUsage: voxgate /);
    expect(errors.slice(0, errors.indexOf('\n')), line).toContain(words);
  }
});

it('leaves nothing behind of all that, nor of a name that cannot be kept', async () => {
  for (const name of ['', 'a\nb', 'x'.repeat(101)]) {
    const { code, errors } = await run(['orgs', 'create', name]);
    expect([name, code]).toEqual([name, 64]);
    expect(errors).toMatch(/^voxgate: The name of an organisation [^\n]+\.\n\nUsage: /);
  }
  expect(readdirSync(directory)).toEqual([]);
});

it('makes no database where there is none, and says how to have one', async () => {
  for (const line of ['keys create', 'keys create --org org_1', 'orgs create Acme']) {
    const { code, errors } = await run(line.split(' '));
    expect([line, code]).toEqual([line, 1]);
    expect(errors).toMatch(/^voxgate: there is no database in [^\n]* --init [^\n]*\.\n$/);
  }
  expect(readdirSync(directory)).toEqual([]);
});

it('takes no name that a command has no use for, and names the nearest of a command that there is not', async () => {
  for (const line of ['serve now', 'demo now', 'models now', 'nodes now', 'config check now', 'transcribe a b']) {
    const { code, errors } = await run(line.split(' '));
    expect([line, code]).toEqual([line, 64]);
    expect(errors).toMatch(/^voxgate: [^\n]+\.\n\nUsage: voxgate /);
    // The sentence has to stay in sight.
    expect(errors.split('\n').length).toBeLessThan(12);
  }
  expect((await run(['modles'])).errors).toMatch(/^voxgate: there is no command "modles"; the nearest is models\.\n/);
});

it.each([[['models']], [['config', 'check']], [['serve']]])(
  '%j refuses prices that cannot be used with 78 and one sentence',
  async (command) => {
    const file = join(temporaryDirectory(), 'prices.json');
    writeFileSync(file, '{"deepgram/nova-9": {"live": null}}');
    const env = { VOXGATE_PRICES_FILE: file, VOXGATE_DATA_DIRECTORY: temporaryDirectory(), VOXGATE_PORT: '0' };
    const { code, errors } = await voxgate(command, env);
    expect(code).toBe(78);
    expect(errors).toMatch(/^voxgate: VOXGATE_PRICES_FILE [^\n]*"deepgram\/nova-9"[^\n]*\.\n$/);
  },
);

it('shows in the list of models what they cost here', async () => {
  const file = join(temporaryDirectory(), 'prices.json');
  const nova = { live: { unit: 'minute', amount: '0.01', minimum: '0.02' }, batch: null };
  writeFileSync(file, JSON.stringify({ 'deepgram/nova-3': nova, 'openai/whisper-1': { batch: null, live: null } }));
  const { output } = await voxgate(['models'], { VOXGATE_PRICES_FILE: file, VOXGATE_MARGIN_PERCENT: '100' });
  expect(output).toMatch(/deepgram\/nova-3 +live .* 0\.02 a minute, at least 0\.04 +- +\S+ +not set up\n/);
  expect(output).toMatch(/openai\/whisper-1 +- .* - +- +\S+ +no price\n/);
  expect(output).toMatch(/local\/commands-en .* free +free +self +yes\n/);
});

it.each<[string, () => unknown, unknown]>([
  ['an amount', () => usdValue('x', '12.5'), 12_500_000n],
  ['the least amount', () => usdValue('x', '0.000001'), 1n],
  ['a negative amount', () => signedUsdValue('x', '-0.5'), -500_000n],
  ['a positive amount with its sign', () => signedUsdValue('x', '+1'), 1_000_000n],
  ['a count', () => countValue('x', '7', 1, 7), 7],
  ['a day', () => timeValue('x', '2028-02-29'), '2028-02-29T00:00:00.000Z'],
  ['a minute', () => timeValue('x', '2026-12-31T18:05Z'), '2026-12-31T18:05:00.000Z'],
  ['a part of a second', () => timeValue('x', '2026-12-31T18:05:06.7Z'), '2026-12-31T18:05:06.700Z'],
  ['no time', () => durationValue('x', '0', 1), 0],
  ['days', () => durationValue('x', '3d', 259_200_000), 259_200_000],
  ['a list, each once', () => listValue('x', ['a, b', 'b', 'c']), ['a', 'b', 'c']],
])('reads %s', (_, read, wanted) => {
  expect(read()).toEqual(wanted);
});

it.each<[string, () => unknown]>([
  ['an amount of a thousand million', () => usdValue('x', '1000000000')],
  ['a sign without an amount', () => signedUsdValue('x', '-')],
  ['two signs', () => signedUsdValue('x', '--1')],
  ['a line break after an amount', () => usdValue('x', '1\n')],
  ['a count above the bound', () => countValue('x', '8', 1, 7)],
  ['a count beyond the integers', () => countValue('x', '9007199254740993')],
  ['a local time', () => timeValue('x', '2026-12-31T18:00:00')],
  ['a time with an offset', () => timeValue('x', '2026-12-31T18:00:00+01:00')],
  ['the 29th of February of another year', () => timeValue('x', '2026-02-29')],
  ['the 25th hour', () => timeValue('x', '2026-12-31T24:00:00Z')],
  ['a duration above the bound', () => durationValue('x', '61s', 60_000)],
  ['a duration of two units', () => durationValue('x', '1h30m', 1e9)],
  ['a list with a gap', () => listValue('x', ['a,,b'])],
])('refuses %s in one sentence', (_, read) => {
  expect(read).toThrow(WrongInput);
  expect(read).toThrow(/^x is "[^\n]*\.$/);
});
