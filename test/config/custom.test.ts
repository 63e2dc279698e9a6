// The section `custom` of the configuration file: what becomes of a good one, and a sentence for each fault of a bad one.
import { describe, expect, it } from 'vitest';
import { ConfigError } from '../../src/config/config-error.ts';
import { customMembers } from '../../src/config/custom.ts';
import { loadConfig } from '../../src/config/load.ts';
import { configReference, printConfig } from '../../src/config/reference.ts';
import { SHAPES } from '../../src/vendors/custom/shapes.ts';
import { providersWith } from '../../src/vendors/index.ts';

const CANARY = 'canary-4711';
const FILES: Record<string, string> = { 'key.txt': `${CANARY}\n`, 'bad.txt': 'two words\n', 'empty.txt': '\n' };

const server = (more: object = {}, model: object = {}) => ({
  ...{ shape: 'openai', url: 'http://10.0.0.5:8000/v1', models: [{ name: 'whisper', batch: 'free', ...model }] },
  ...more,
});

function load(custom: unknown, env: Record<string, string> = {}) {
  const files: Record<string, string> = { ...FILES, 'v.json': JSON.stringify({ custom }) };
  return loadConfig(
    { VOXGATE_CONFIG: 'v.json', ...env },
    {
      providers: ['local'],
      catalogue: [],
      readFile(path) {
        const text = files[path];
        if (text === undefined) throw Object.assign(new Error(`no ${path}`), { code: 'ENOENT' });
        return text;
      },
    },
  );
}

function faultsOf(custom: unknown, env: Record<string, string> = {}): string[] {
  try {
    load(custom, env);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    const lines = error.message.split('\n').map((line) => line.trim());
    return lines.length === 1 ? lines : lines.slice(1);
  }
  return [];
}

describe('servers of the operator’s own', () => {
  it('default to none', () => {
    expect(loadConfig({}, { providers: [] }).custom).toEqual([]);
  });

  it('become models with what the file says, and for the rest what their shape has', () => {
    const { custom } = load([
      server({}, { model: 'Systran/large', languages: ['de'], fileSecondsMax: 60, title: 'Our Whisper' }),
      server(
        { shape: 'deepgram', region: 'self', retention: 'none' },
        { name: 'nova', live: '0.002', batch: '0.001', sampleRates: [16_000] },
      ),
    ]);
    expect(custom).toMatchObject([
      { name: 'whisper', shape: 'openai', model: 'Systran/large', like: SHAPES.openai?.like, credential: undefined },
      { name: 'nova', shape: 'deepgram', model: 'nova', like: SHAPES.deepgram?.like },
    ]);
    const known = providersWith(custom);
    expect(known.get('custom/whisper')?.models).toMatchObject([
      {
        ...{ id: 'custom/whisper', name: 'Our Whisper', languages: ['de'], modes: ['batch', 'live'] },
        ...{
          live_turns: 'gateway',
          pricing: { batch: { amount: '0', free: true }, live: { amount: '0', free: true } },
        },
        audio: { max_seconds: 60, max_file_bytes: null, sample_rates: [16_000] },
      },
    ]);
    expect(known.get('custom/nova')?.models).toMatchObject([
      {
        ...{ name: 'custom/nova', modes: ['batch', 'live'], audio: { sample_rates: [16_000] } },
        pricing: { batch: { amount: '0.001' }, live: { amount: '0.002' } },
        processing: [{ region: 'self', retention: 'none' }],
      },
    ]);
  });

  it.each([
    ['a variable', { apiKeyVariable: 'OUR_KEY' }],
    ['a variable that is called like ours', { apiKeyVariable: 'VOXGATE_OUR_KEY' }],
    ['a file', { apiKeyFile: 'key.txt' }],
  ] as const)('read the key of %s, which stays hidden', (_, key) => {
    const env: Record<string, string> = 'apiKeyVariable' in key ? { [key.apiKeyVariable]: CANARY } : {};
    const config = load([server(key)], env);
    expect(config.custom[0]?.credential).toBe(CANARY);
    expect(printConfig(config)).not.toContain(CANARY);
    expect(printConfig(config)).toContain('custom');
  });
});

/** A section, and how the sentence of its only fault goes. */
const BAD: [string, unknown, RegExp][] = [
  ['no list', { shape: 'openai', apiKey: CANARY }, /^custom in the .* is an object; it is a list of servers\.$/],
  [
    'no object',
    ['x'],
    /^custom\[0\] .* is no object; .* members shape, url, region, retention, apiKeyVariable, apiKeyFile, models\.$/,
  ],
  [
    'no such shape',
    [server({ shape: 'whisper' })],
    /^custom\[0\]\.shape .* "whisper"; it is one of openai, deepgram, vosk/,
  ],
  ['no shape', [server({ shape: undefined })], /^custom\[0\]\.shape is missing .* one of openai, deepgram, vosk/],
  [
    'a URL with a key',
    [server({ url: `http://u:${CANARY}@h` })],
    /^custom\[0\]\.url .* cannot be used; .* without user/,
  ],
  [
    'models that are not a list',
    [server({ models: { apiKey: CANARY } })],
    /^custom\[0\]\.models .* is an object; it is a list of at least one model\.$/,
  ],
  ['no models', [server({ models: [] })], /^custom\[0\]\.models .* is \[\]; it is a list of at least one model\.$/],
  [
    'an unknown member',
    [server({ uri: 'x' })],
    /^"custom\[0\]\.uri" .* not a member of Voxgate; .* custom\[0\]\.url\.$/,
  ],
  ['a model that is a text', [server({ models: ['w'] })], /^custom\[0\]\.models\[0\] .* is no object/],
  [
    'a name with a slash',
    [server({}, { name: 'a/b' })],
    /^custom\[0\]\.models\[0\]\.name .* "a\/b"; it is a text of 1 to 64/,
  ],
  ['a price of 0', [server({}, { batch: '0.00' })], /^custom\[0\]\.models\[0\]\.batch .* "0\.00"; .* or "free"\.$/],
  [
    'a price that is a number',
    [server({}, { batch: 0.002 })],
    /\.batch .* is 0\.002; it is USD for a minute as a text/,
  ],
  [
    'no price',
    [server({}, { batch: undefined })],
    /^custom\[0\]\.models\[0\] has no price .* batch or live .* "free"\.$/,
  ],
  ['a language that is none', [server({}, { languages: ['English!'] })], /\.languages .* it is a list of languages/],
  ['an unknown capability', [server({}, { capabilities: { magic: true } })], /capabilities\.magic.* not a member/],
  [
    'a capability that is not a flag',
    [server({}, { capabilities: { diarization: 1 } })],
    /\.diarization .* true or false\.$/,
  ],
  [
    'no such model to be like',
    [server({}, { like: 'whisper-9' })],
    /\.like .* "whisper-9"; of the shape openai .* whisper-1/,
  ],
  [
    'a live price of a model for files only',
    [server({}, { like: 'gpt-4o-transcribe-diarize', live: 'free' })],
    /^custom\[0\]\.models\[0\]\.live .* has batch alone, whose live sessions are files at its price\.$/,
  ],
  [
    'a file price of what has no files',
    [server({ shape: 'deepgram' }, { like: 'flux-general-en' })],
    /^custom\[0\]\.models\[0\]\.batch .* a model like flux-general-en has live alone\.$/,
  ],
  [
    'a rate that its protocol does not have',
    [server({ shape: 'vllm' }, { live: 'free', sampleRates: [16_000, 24_000] })],
    /^custom\[0\]\.models\[0\]\.sampleRates .* has 24000; live a model like qwen3-asr-1\.7b takes 16000\.$/,
  ],
  ['one name twice', [server(), server({ shape: 'deepgram' })], /^The model custom\/whisper is .* twice; .* own\.$/],
  ['no such region', [server({ region: 'mars' })], /^custom\[0\]\.region .* "mars"; it is one of us, .*self\.$/],
  ['two places of a key', [server({ apiKeyVariable: 'A', apiKeyFile: 'key.txt' })], /apiKeyVariable and apiKeyFile/],
  [
    'a variable that is not set',
    [server({ apiKeyVariable: 'NO_KEY' })],
    /^custom\[0\]\.apiKeyVariable .* names the variable NO_KEY, which is not set; set it to the key of that server/,
  ],
  [
    'a key in the place of its variable',
    [server({ apiKeyVariable: CANARY.replaceAll('-', '_') })],
    /^custom\[0\]\.apiKeyVariable .* names a variable, which is not set; set it/,
  ],
  [
    'a key in the place of its file',
    [server({ apiKeyFile: CANARY })],
    /^custom\[0\]\.apiKeyFile names a file that cannot/,
  ],
  [
    'a key of any length in the place of its file',
    [server({ apiKeyFile: CANARY.repeat(500) })],
    /^custom\[0\]\.apiKeyFile in the configuration file cannot be used; it is a text/,
  ],
  [
    'a file that is not there',
    [server({ apiKeyFile: 'no.txt' })],
    /^custom\[0\]\.apiKeyFile .* cannot be read \(ENOENT\)/,
  ],
  [
    'a file with no key',
    [server({ apiKeyFile: 'bad.txt' })],
    /^custom\[0\]\.apiKeyFile .* cannot be used; it holds a text/,
  ],
  [
    'an empty file',
    [server({ apiKeyFile: 'empty.txt' })],
    /^custom\[0\]\.apiKeyFile .* cannot be used; it holds a text/,
  ],
  [
    'too many models',
    [server({ models: Array.from({ length: 65 }, (_, at) => ({ name: `m${at}`, batch: 'free' })) })],
    /^custom .* has 65 models; at most 64 are taken\.$/,
  ],
];

it('lists every member in the reference', () => {
  for (const { place, accepts, description } of customMembers())
    expect(configReference()).toContain(`| \`${place}\` | ${accepts} | ${description} |`);
});

describe('a section that cannot be used', () => {
  it.each(BAD)('%s is one sentence', (_, custom, sentence) => {
    const faults = faultsOf(custom);
    expect(faults).toEqual([expect.stringMatching(sentence)]);
    expect(faults.join().replaceAll('_', '-')).not.toContain(CANARY);
  });

  it('gets all of its faults reported at once, with those of other sections', () => {
    const custom = [
      server({ shape: 'x', url: 'ftp://h' }, { name: '' }),
      server({ apiKeyVariable: 'NO_KEY' }, { like: 'y' }),
    ];
    const faults = faultsOf(custom, { VOXGATE_DOOR: 'bun', VOXGATE_OTHER: '1' });
    expect(faults.map((fault) => fault.split(' ')[0])).toEqual([
      '"VOXGATE_OTHER"',
      'VOXGATE_DOOR',
      'custom[0].shape',
      'custom[0].url',
      'custom[0].models[0].name',
      'custom[1].apiKeyVariable',
      'custom[1].models[0].like',
    ]);
  });

  it('gets the right name suggested for a mistyped one', () => {
    const readFile = () => JSON.stringify({ costum: [] });
    expect(() => loadConfig({ VOXGATE_CONFIG: 'v.json' }, { providers: [], readFile })).toThrow('is custom.');
  });

  it('lets a price of the prices file name the model', () => {
    FILES['prices.json'] = JSON.stringify({ 'custom/whisper': { batch: { unit: 'minute', amount: '0.5' } } });
    expect(faultsOf([server()], { VOXGATE_PRICES_FILE: 'prices.json' })).toEqual([]);
    expect(faultsOf([server({}, { name: 'other' })], { VOXGATE_PRICES_FILE: 'prices.json' })).toEqual([
      expect.stringContaining(`no model "custom/whisper"; the nearest is custom/other.`),
    ]);
  });
});
