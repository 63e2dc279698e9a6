// Speech models of the operator's own: what becomes of a good folder, and a sentence for each fault of a bad one.
import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ConfigError } from '../../src/config/config-error.ts';
import { loadConfig } from '../../src/config/load.ts';
import { readOneModel } from '../../src/config/local-models.ts';
import { printConfig } from '../../src/config/reference.ts';
import { providers, providersWith } from '../../src/vendors/index.ts';
import { local } from '../../src/vendors/local/index.ts';
import type { MODEL_KINDS } from '../../src/vendors/local/own-model.ts';
import { temporaryDirectory } from '../fakes/temporary-directory.ts';

/** As ONNX begins: the version of its format, and who wrote it. */
const ONNX = Buffer.concat([Buffer.from([0x08, 0x08, 0x12, 0x07]), Buffer.from('pytorch'), Buffer.alloc(512)]);
const ORT = Buffer.concat([Buffer.from([0x20, 0, 0, 0]), Buffer.from('ORTM'), Buffer.alloc(512)]);
const TOKENS = '<blk> 0\n▁the 1\n';

let root: string;

beforeEach(() => {
  root = temporaryDirectory();
});

type Files = Readonly<Record<string, string | Buffer | object>>;

/** Makes a folder of a model; what is neither text nor bytes is written as JSON. */
function folder(name: string, files: Files, within = root): string {
  const path = join(within, name);
  mkdirSync(path, { recursive: true });
  for (const [file, content] of Object.entries(files)) {
    const bytes = typeof content === 'string' || Buffer.isBuffer(content) ? content : JSON.stringify(content);
    writeFileSync(join(path, file), bytes);
  }
  return path;
}

const whisper = (declared: object = {}, files: Files = {}): Files => ({
  'model.json': { kind: 'whisper', languages: ['en'], ...declared },
  'tiny-encoder.onnx': ONNX,
  'tiny-decoder.onnx': ONNX,
  'tiny-tokens.txt': TOKENS,
  ...files,
});

/** A folder without some of its files. */
const without = (files: Files, ...names: string[]): Files =>
  Object.fromEntries(Object.entries(files).filter(([name]) => !names.includes(name)));

function load(directory = root, notes: string[] = []) {
  return loadConfig(
    { VOXGATE_LOCAL_MODELS: directory },
    { providers: ['local'], catalogue: providers, onNote: (sentence) => notes.push(sentence) },
  );
}

function faultsOf(directory = root): string[] {
  try {
    load(directory);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    const lines = error.message.split('\n').map((line) => line.trim());
    return lines.length === 1 ? lines : lines.slice(1);
  }
  return [];
}

/** What is said of the only folder. */
function faultOf(): string {
  const [fault = '', ...others] = faultsOf();
  expect(others).toEqual([]);
  expect(fault).toMatch(/^The model folder .+ cannot be used: .*[^.]\.$/);
  return fault.slice(fault.indexOf('used: ') + 'used: '.length);
}

describe('folders of speech models', () => {
  it('default to none', () => {
    expect(loadConfig({}, { providers: [] }).localModels).toEqual([]);
  });

  it('become models with what `model.json` declares', () => {
    folder('small', whisper());
    folder('telephone_de', {
      'model.json': {
        ...{ kind: 'streaming-zipformer2-ctc', languages: ['de', 'de-AT'], name: 'Telephone', description: 'Calls.' },
        ...{ modes: ['live'], sample_rates: [8_000], files: { model: 'ctc.onnx' } },
      },
      'ctc.onnx': ONNX,
      'tokens.txt': TOKENS,
    });
    const { localModels } = load();
    expect(localModels).toEqual([
      {
        name: 'small',
        folder: join(root, 'small'),
        languages: ['en'],
        modes: ['live', 'batch'],
        model: {
          kind: 'whisper',
          language: 'en',
          files: { encoder: join(root, 'small/tiny-encoder.onnx'), decoder: join(root, 'small/tiny-decoder.onnx') },
          tokens: join(root, 'small/tiny-tokens.txt'),
        },
      },
      expect.objectContaining({ name: 'telephone_de', title: 'Telephone', modes: ['live'] }),
    ]);
    const cards = new Map(
      providersWith([], localModels)
        .get('local')
        ?.models.map((card) => [card.id, card]),
    );
    expect(cards.size).toBe(local.models.length + 2);
    expect(cards.get('local/small')).toMatchObject({
      ...{ name: 'small', languages: ['en'], modes: ['batch', 'live'], capabilities: { formatting: true } },
      ...{ audio: { sample_rates: [16_000] }, processing: [{ region: 'self', retention: 'none' }] },
      pricing: { batch: { amount: '0', free: true }, live: { amount: '0', free: true } },
    });
    expect(cards.get('local/telephone_de')).toMatchObject({
      ...{ name: 'Telephone', description: 'Calls.', languages: ['de', 'de-AT'], modes: ['live'] },
      ...{ audio: { sample_rates: [8_000] }, capabilities: { formatting: false }, pricing: { live: { free: true } } },
    });
  });

  it('have the options of dictation, even if named like a grammar', () => {
    folder('commands-de', whisper());
    const provider = providersWith([], load().localModels).get('local');
    expect(Object.keys(provider?.options('commands-de').properties ?? {})).toEqual(['endpointing']);
    expect(Object.keys(provider?.options('commands-en').properties ?? {})).toEqual(['grammar']);
  });

  it('are shown by `voxgate config print`', () => {
    folder('small', whisper());
    expect(JSON.parse(printConfig(load())).localModels).toMatchObject([{ name: 'small' }]);
  });

  const PUBLISHED: [string, { kind: keyof typeof MODEL_KINDS; files: string[]; expected: Record<string, string> }][] = [
    [
      'Whisper tiny',
      {
        kind: 'whisper',
        files: [
          'tiny.en-decoder.int8.onnx',
          'tiny.en-decoder.onnx',
          'tiny.en-encoder.int8.onnx',
          'tiny.en-encoder.onnx',
        ],
        expected: { encoder: 'tiny.en-encoder.int8.onnx', decoder: 'tiny.en-decoder.int8.onnx' },
      },
    ],
    [
      'a streaming Zipformer',
      {
        kind: 'streaming-transducer',
        files: ['encoder', 'decoder', 'joiner'].flatMap((part) => [
          `${part}-epoch-99-avg-1.int8.onnx`,
          `${part}-epoch-99-avg-1.onnx`,
        ]),
        expected: {
          encoder: 'encoder-epoch-99-avg-1.int8.onnx',
          decoder: 'decoder-epoch-99-avg-1.int8.onnx',
          joiner: 'joiner-epoch-99-avg-1.int8.onnx',
        },
      },
    ],
    [
      'Parakeet',
      {
        kind: 'nemo-transducer',
        files: ['encoder.int8.onnx', 'decoder.int8.onnx', 'joiner.int8.onnx'],
        expected: { encoder: 'encoder.int8.onnx', decoder: 'decoder.int8.onnx', joiner: 'joiner.int8.onnx' },
      },
    ],
    [
      'SenseVoice',
      { kind: 'sense-voice', files: ['model.int8.onnx', 'model.onnx'], expected: { model: 'model.int8.onnx' } },
    ],
    [
      'a streaming Zipformer with CTC',
      {
        kind: 'streaming-zipformer2-ctc',
        files: ['ctc-epoch-20-avg-1-chunk-16-left-128.int8.onnx'],
        expected: { model: 'ctc-epoch-20-avg-1-chunk-16-left-128.int8.onnx' },
      },
    ],
    [
      'Moonshine as it was first published',
      {
        kind: 'moonshine-v1',
        files: ['preprocess.onnx', 'encode.int8.onnx', 'uncached_decode.int8.onnx', 'cached_decode.int8.onnx'],
        expected: {
          preprocessor: 'preprocess.onnx',
          encoder: 'encode.int8.onnx',
          uncachedDecoder: 'uncached_decode.int8.onnx',
          cachedDecoder: 'cached_decode.int8.onnx',
        },
      },
    ],
    [
      'Moonshine in the format of ONNX Runtime',
      {
        kind: 'moonshine',
        files: ['encoder_model.ort', 'decoder_model_merged.ort'],
        expected: { encoder: 'encoder_model.ort', mergedDecoder: 'decoder_model_merged.ort' },
      },
    ],
  ];

  it.each(PUBLISHED)('finds the files of %s by their usual names', (_, { kind, files, expected }) => {
    const contents = Object.fromEntries(files.map((name) => [name, name.endsWith('.ort') ? ORT : ONNX]));
    folder('m', { 'model.json': { kind, languages: ['en'] }, 'tokens.txt': TOKENS, 'README.md': '#', ...contents });
    const [model] = load().localModels;
    const found = Object.entries(model?.model.files ?? {}).map(([role, path]) => [role, path.split('/').at(-1)]);
    expect(Object.fromEntries(found)).toEqual(expected);
  });

  it('tell a model the language only where it takes one and knows one', () => {
    folder('a', whisper({ languages: ['de-CH'] }));
    folder('b', whisper({ languages: ['de', 'fr'] }));
    folder('c', whisper({ languages: ['*'] }));
    folder('d', { ...whisper({ kind: 'sense-voice', languages: ['ja'] }), 'model.onnx': ONNX });
    expect(load().localModels.map(({ model }) => model.language)).toEqual(['de', undefined, undefined, 'ja']);
  });

  it('may stand next to files, hidden folders and what file systems leave behind', () => {
    folder('small', whisper());
    folder('.cache', {});
    folder('lost+found', {});
    writeFileSync(join(root, 'download.tar.bz2'), 'x');
    expect(load().localModels.map(({ name }) => name)).toEqual(['small']);
  });

  it('may be links, and share files among each other', () => {
    const elsewhere = temporaryDirectory();
    symlinkSync(folder('whisper', whisper(), elsewhere), join(root, 'linked'));
    folder('shared', { 'tokens.txt': TOKENS, ...whisper() });
    folder('small', without(whisper(), 'tiny-tokens.txt'));
    symlinkSync('../shared/tokens.txt', join(root, 'small/tokens.txt'));
    expect(load().localModels.map(({ name }) => name)).toEqual(['linked', 'shared', 'small']);
  });

  it('are read with a byte order mark', () => {
    folder('small', whisper({}, { 'model.json': '\uFEFF{"kind": "whisper", "languages": ["en"]}' }));
    expect(load().localModels).toHaveLength(1);
  });

  it('note that there is none', () => {
    const notes: string[] = [];
    expect(load(root, notes).localModels).toEqual([]);
    expect(notes).toEqual([expect.stringMatching(/^VOXGATE_LOCAL_MODELS .* which has no model; it is the path of/)]);
  });

  it('need no list of a large folder whose files are named', () => {
    const path = folder('large', {
      ...whisper({ files: { encoder: 'tiny-encoder.onnx', decoder: 'tiny-decoder.onnx', tokens: 'tiny-tokens.txt' } }),
    });
    for (let at = 0; at < 10_000; at++) writeFileSync(join(path, `${at}.wav`), '');
    expect(load().localModels).toHaveLength(1);
  });
});

const JSON_EXAMPLE = 'such as {"kind": "whisper", "languages": ["en"]}.';

describe('a folder that cannot be used is refused in one sentence', () => {
  const DECLARED: [string, string | object, string][] = [
    ['no JSON', '{kind', `its model.json is not valid JSON; it is an object ${JSON_EXAMPLE}`],
    ['a list', '[]', `its model.json is []; it is an object ${JSON_EXAMPLE}`],
    [
      'lists in lists',
      `${'['.repeat(30_000)}${']'.repeat(30_000)}`,
      `its model.json is nested too deeply; it is an object ${JSON_EXAMPLE}`,
    ],
    [
      'a member of lists in lists',
      `{"kind": "whisper", "languages": ${'['.repeat(30_000)}${']'.repeat(30_000)}}`,
      '`languages` in its model.json is nested too deeply; it is a list of BCP-47 languages',
    ],
    ['null', 'null', `its model.json is null; it is an object ${JSON_EXAMPLE}`],
    ['no kind', { languages: ['en'] }, '`kind` is missing in its model.json; it is one of moonshine, '],
    ['no language', { kind: 'whisper' }, '`languages` is missing in its model.json; it is a list of BCP-47 languages'],
    [
      'an unknown kind',
      { kind: 'kaldi', languages: ['en'] },
      '`kind` in its model.json is "kaldi"; it is one of moonshine, ',
    ],
    [
      'a kind of objects',
      { kind: 'toString', languages: ['en'] },
      '`kind` in its model.json is "toString"; it is one of',
    ],
    [
      'bad languages',
      { kind: 'whisper', languages: ['English'] },
      '`languages` in its model.json is ["English"]; it is a list',
    ],
    ['no languages', { kind: 'whisper', languages: [] }, '`languages` in its model.json is []; it is a list'],
    [
      'a bad mode',
      { kind: 'whisper', languages: ['en'], modes: ['files'] },
      '`modes` in its model.json is ["files"]; it is ["live"], ["batch"] or both',
    ],
    [
      'a bad rate',
      { kind: 'whisper', languages: ['en'], sample_rates: [44_100] },
      '`sample_rates` in its model.json is [44100]; it is [16000], or [8000]',
    ],
    [
      'a bad name',
      { kind: 'whisper', languages: ['en'], name: '' },
      '`name` in its model.json is ""; it is a text of 1 to 64 characters',
    ],
    [
      'an unknown member',
      { kind: 'whisper', languages: ['en'], language: 'en' },
      '"language" is not a member of model.json; its members are kind, languages, ',
    ],
    [
      'a member of objects',
      '{"kind": "whisper", "languages": ["en"], "__proto__": {}}',
      '"__proto__" is not a member of model.json',
    ],
    [
      'an unknown file',
      { kind: 'whisper', languages: ['en'], files: { joiner: 'a' } },
      '"joiner" is not a file of the kind whisper; its files are encoder, decoder, tokens',
    ],
    [
      'a file that is not there',
      { kind: 'whisper', languages: ['en'], files: { encoder: 'gone.onnx' } },
      'its encoder, gone.onnx, is not there; put it there, or name another file',
    ],
    [
      'a path upwards',
      { kind: 'whisper', languages: ['en'], files: { encoder: '../other/tiny-encoder.onnx' } },
      'its encoder is "../other/tiny-encoder.onnx", which leads out of the folder; name a file in it',
    ],
    [
      'a hidden path upwards',
      { kind: 'whisper', languages: ['en'], files: { encoder: 'a/../../x.onnx' } },
      'its encoder is "a/../../x.onnx", which leads out of the folder',
    ],
    [
      'an absolute path',
      { kind: 'whisper', languages: ['en'], files: { tokens: '/etc/passwd' } },
      'its tokens is "/etc/passwd", which leads out of the folder',
    ],
    [
      'a NUL in a path',
      { kind: 'whisper', languages: ['en'], files: { tokens: 'a\0b' } },
      'its tokens is "a\\u0000b", which leads out of the folder',
    ],
    [
      'a folder for a file',
      { kind: 'whisper', languages: ['en'], files: { encoder: '.' } },
      'its . is not a file; name a file in the folder',
    ],
  ];

  it.each(DECLARED)('%s', (_, declared, expected) => {
    folder('small', whisper({}, { 'model.json': declared }));
    expect(faultOf()).toContain(expected);
  });

  const FILES: [string, () => Files, string][] = [
    ['no model.json', () => without(whisper(), 'model.json'), `it has no model.json; put one there, ${JSON_EXAMPLE}`],
    [
      'no encoder',
      () => without(whisper(), 'tiny-encoder.onnx'),
      'it has no file for the encoder of the kind whisper, such as encoder.onnx; put it there, or name it in `files` of its model.json',
    ],
    [
      'no tokens',
      () => without(whisper(), 'tiny-tokens.txt'),
      'it has no file for the tokens of the kind whisper, such as tokens.txt;',
    ],
    [
      'two encoders',
      () => whisper({}, { 'base-encoder.onnx': ONNX }),
      'both base-encoder.onnx and tiny-encoder.onnx may be the encoder of the kind whisper; name one in `files`, such as {"encoder": "base-encoder.onnx"}',
    ],
    [
      'an empty file',
      () => whisper({}, { 'tiny-encoder.onnx': '' }),
      'its tiny-encoder.onnx (0 bytes) is not a model in ONNX; download it again',
    ],
    [
      'a page in place of the file',
      () => whisper({}, { 'tiny-encoder.onnx': `<!DOCTYPE html>${' '.repeat(999)}` }),
      'its tiny-encoder.onnx (1014 bytes) is not a model in ONNX; download it again',
    ],
    [
      'a compressed file',
      () => whisper({}, { 'tiny-encoder.onnx': Buffer.concat([Buffer.from('BZh9'), ONNX]) }),
      'is not a model in ONNX',
    ],
    [
      'a pointer of Git LFS',
      () => whisper({}, { 'tiny-decoder.onnx': 'version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 9\n' }),
      'its tiny-decoder.onnx is a pointer of Git LFS and not the file; fetch it with `git lfs pull`',
    ],
    [
      'tokens that are a model',
      () => whisper({}, { 'tiny-tokens.txt': ONNX }),
      'is not a list of tokens; each line of it is a token and its number',
    ],
    [
      'empty tokens',
      () => whisper({}, { 'tiny-tokens.txt': '' }),
      'its tiny-tokens.txt (0 bytes) is not a list of tokens;',
    ],
    [
      'tokens without numbers',
      () => whisper({}, { 'tiny-tokens.txt': 'the\nof\n' }),
      'its tiny-tokens.txt (7 bytes) is not a list of tokens;',
    ],
  ];

  it.each(FILES)('%s', (_, files, expected) => {
    folder('small', files());
    expect(faultOf()).toContain(expected);
  });

  it('a model.json of a gigabyte, unread', () => {
    const path = folder('small', whisper());
    truncateSync(join(path, 'model.json'), 2 ** 30);
    expect(faultOf()).toBe('its model.json has 1073741824 bytes; at most 65536 are read.');
  });

  it('a model.json or a model that is a folder', () => {
    mkdirSync(join(folder('a', without(whisper(), 'model.json')), 'model.json'));
    mkdirSync(join(folder('b', without(whisper(), 'tiny-encoder.onnx')), 'tiny-encoder.onnx'));
    expect(faultsOf()).toEqual([
      expect.stringContaining(`its model.json is not a file; it is a file ${JSON_EXAMPLE}`),
      expect.stringContaining('its tiny-encoder.onnx is not a file; name a file in the folder.'),
    ]);
  });

  it('a named pipe, without waiting for it', () => {
    const path = folder('a', without(whisper(), 'tiny-encoder.onnx'));
    execFileSync('mkfifo', [join(path, 'tiny-encoder.onnx')]);
    execFileSync('mkfifo', [join(folder('b', without(whisper(), 'model.json')), 'model.json')]);
    expect(faultsOf()).toEqual([
      expect.stringContaining('its tiny-encoder.onnx is not a file'),
      expect.stringContaining('its model.json is not a file'),
    ]);
  });

  it('a loop of links', () => {
    symlinkSync('loop', join(root, 'loop'));
    const path = folder('small', without(whisper(), 'tiny-encoder.onnx'));
    symlinkSync('tiny-encoder.onnx', join(path, 'tiny-encoder.onnx'));
    expect(faultsOf()).toEqual([
      expect.stringContaining('its model.json cannot be read (ELOOP); make it readable.'),
      expect.stringContaining('its tiny-encoder.onnx cannot be read (ELOOP); make it readable.'),
    ]);
  });

  it('a link out of the folder', () => {
    const path = folder('small', without(whisper(), 'tiny-encoder.onnx'));
    symlinkSync(
      join(folder('x', whisper(), temporaryDirectory()), 'tiny-encoder.onnx'),
      join(path, 'tiny-encoder.onnx'),
    );
    expect(faultOf()).toBe('its encoder is "tiny-encoder.onnx", which leads out of the folder; name a file in it.');
  });

  it('a link to nothing', () => {
    symlinkSync('gone', join(root, 'small'));
    expect(faultOf()).toBe('it cannot be read (ENOENT); it is a folder that this user may read.');
  });

  it('10,000 files without names', () => {
    const path = folder('large', whisper());
    for (let at = 0; at < 10_000; at++) writeFileSync(join(path, `${at}.wav`), '');
    expect(faultOf()).toBe('it has more than 1000 files; name those of the model in `files` of its model.json.');
  });

  it('a name that is not a slug', () => {
    folder('my model', whisper());
    expect(faultOf()).toBe(
      'its name is to be the name of the model, local/<name>; it is 1 to 96 letters, digits, dots, hyphens and underscores that begin with a letter or digit.',
    );
  });

  it('a name that the package has, in any case', () => {
    folder('dictation-en', whisper());
    folder('Commands-EN', whisper());
    expect(faultsOf()).toEqual([
      expect.stringContaining('local/Commands-EN is a model of the package; give the folder another name.'),
      expect.stringContaining('local/dictation-en is a model of the package; give the folder another name.'),
    ]);
  });

  it('names that differ in case alone', () => {
    folder('Small', whisper());
    folder('small', whisper());
    expect(faultsOf()).toEqual([
      expect.stringContaining('its name and that of the folder small differ in case alone; rename one of them.'),
      expect.stringContaining('its name and that of the folder Small differ in case alone; rename one of them.'),
    ]);
  });

  it('each bad one among good ones', () => {
    folder('a', whisper());
    folder('b', {});
    folder('c', whisper({ kind: 'x' }));
    expect(faultsOf()).toHaveLength(2);
  });
});

describe('the folder of all models is refused', () => {
  const ACCEPTED = 'it is the path of a folder with one folder for each model.';

  it('where it is not there, or is a file', () => {
    writeFileSync(join(root, 'file'), '');
    for (const [name, code] of [
      ['gone', 'ENOENT'],
      ['file', 'ENOTDIR'],
    ] as const) {
      expect(faultsOf(join(root, name))).toEqual([
        `VOXGATE_LOCAL_MODELS (recogniser.modelsDirectory) is "${join(root, name)}", which cannot be read (${code}); ${ACCEPTED}`,
      ]);
    }
  });

  it('where it is the folder of a model', () => {
    const path = folder('small', whisper());
    expect(faultsOf(path)).toEqual([
      expect.stringContaining('which has a model.json and is itself the folder of a model;'),
    ]);
  });

  it('where it has 10,000 entries, or 65 models', () => {
    const many = temporaryDirectory();
    for (let at = 0; at < 10_000; at++) writeFileSync(join(many, String(at)), '');
    expect(faultsOf(many)).toEqual([expect.stringContaining(`which has more than 1000 entries; ${ACCEPTED}`)]);
    for (let at = 0; at < 65; at++) folder(`m${at}`, {});
    expect(faultsOf()).toEqual([expect.stringContaining('which has 65 folders; at most 64 models are taken.')]);
  });
});

describe('one folder alone', () => {
  afterEach(() => chmodSync(root, 0o755));

  it('is read under any name', () => {
    expect(readOneModel(folder('my model', whisper()))).toMatchObject({ name: 'my model', model: { kind: 'whisper' } });
  });

  it('is refused in the same sentences, also when it has disappeared', () => {
    const path = folder('small', whisper({ kind: 'x' }));
    expect(() => readOneModel(path)).toThrow(
      `The model folder ${path} cannot be used: \`kind\` in its model.json is "x"; it is one of`,
    );
    rmSync(path, { recursive: true });
    expect(() => readOneModel(path)).toThrow(
      `The model folder ${path} cannot be used: it cannot be read (ENOENT); it is a folder that this user may read.`,
    );
  });
});
