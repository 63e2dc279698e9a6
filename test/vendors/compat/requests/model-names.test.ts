// Names of models that vendors had before, have for some uses or have dated: each means a model of the catalogue, and a warning says so.
import { describe, expect, it } from 'vitest';
import { modelOf, replacedModel } from '../../../../src/compat/parameters.ts';
import { dialects } from '../../../../src/vendors/dialects.ts';
import { providers } from '../../../../src/vendors/index.ts';
import { sampleAudio } from '../../../fakes/processes/live-gateway.ts';
import { startDialectRig } from '../rig.ts';

const SLUGS = new Set(providers.flatMap(({ models }) => models.map(({ id }) => id)));
const dialectOf = (name: string) => dialects.find((each) => each.name === name)!;
const meant = (name: string, model: string) => modelOf(dialectOf(name), model, () => false);
const warned = (name: string, model: string) => replacedModel(dialectOf(name), model, () => false);

const USES = ['meeting', 'phonecall', 'finance', 'conversationalai', 'voicemail', 'video'];

describe.each<[vendor: string, replaced: Record<string, string>, same: Record<string, string>, never: string[]]>([
  [
    'deepgram',
    {
      ...{ 'nova-3-medical': 'nova-3', 'nova-2-atc': 'nova-2', nova: 'nova-2', 'nova-general': 'nova-2' },
      ...{ 'nova-phonecall': 'nova-2-phonecall', 'nova-medical': 'nova-2-medical', enhanced: 'nova-2', base: 'nova-2' },
      ...{ 'enhanced-general': 'nova-2', 'base-general': 'nova-2', general: 'nova-2', '2-general': 'nova-2' },
      ...Object.fromEntries(
        ['enhanced-', 'base-', ''].flatMap((tier) => USES.map((use) => [tier + use, `nova-2-${use}`] as const)),
      ),
      whisper: 'nova-3',
      ...Object.fromEntries(['tiny', 'base', 'small', 'medium', 'large'].map((size) => [`whisper-${size}`, 'nova-3'])),
    },
    {
      ...{ 'nova-3-general': 'nova-3', 'nova-2-general': 'nova-2', 'nova-3': 'nova-3', 'nova-2': 'nova-2' },
      ...Object.fromEntries(
        [...USES, 'medical', 'drivethru', 'automotive'].map((use) => [`nova-2-${use}`, `nova-2-${use}`]),
      ),
      ...{ 'flux-general-en': 'flux-general-en', 'flux-general-multi': 'flux-general-multi' },
    },
    ['nova-4', 'nova-3-none', 'whisper-huge', 'base-none', 'enhance', 'supernova'],
  ],
  [
    'elevenlabs',
    { scribe_v1: 'scribe_v2', scribe_v1_experimental: 'scribe_v2', scribe_v1_base: 'scribe_v2' },
    { scribe_v2: 'scribe_v2', scribe_v2_realtime: 'scribe_v2_realtime' },
    ['scribe_v9', 'scribe_v1_none'],
  ],
  [
    'assemblyai',
    {
      ...{ best: 'universal-3-5-pro', 'slam-1': 'universal-3-5-pro', 'universal-3-pro': 'universal-3-5-pro' },
      ...{ nano: 'universal-2', 'conformer-2': 'universal-2' },
    },
    {
      ...{ universal: 'universal-2', 'u3-pro': 'u3-rt-pro', 'universal-streaming': 'universal-streaming-english' },
      ...{ 'universal-streaming-multilingual': 'universal-streaming-multilingual', 'universal-2': 'universal-2' },
    },
    ['slam-2', 'worst', 'universal-9'],
  ],
  [
    'openai',
    {
      ...{ 'gpt-4o-transcribe-2025-03-20': 'gpt-4o-transcribe', 'gpt-4o-transcribe-latest': 'gpt-4o-transcribe' },
      ...{ 'gpt-4o-mini-transcribe-2025-03-20': 'gpt-4o-mini-transcribe' },
      ...{ 'gpt-4o-mini-transcribe-2025-12-15': 'gpt-4o-mini-transcribe' },
      ...{ 'gpt-4o-transcribe-diarize-2025-10-15': 'gpt-4o-transcribe-diarize' },
      ...{ 'gpt-realtime': 'gpt-transcribe', 'gpt-4o-realtime-preview-2025-06-03': 'gpt-transcribe' },
      ...{ 'gpt-realtime-mini': 'gpt-transcribe', 'gpt-4o-mini-realtime-preview': 'gpt-transcribe' },
    },
    {
      'whisper-1': 'whisper-1',
      'gpt-4o-transcribe': 'gpt-4o-transcribe',
      'gpt-realtime-whisper': 'gpt-realtime-whisper',
    },
    ['whisper-2', 'gpt-9-transcribe', 'gpt-4o-transcribe-none'],
  ],
  ['speechmatics', { 'melia-1': 'enhanced' }, { enhanced: 'enhanced', standard: 'standard' }, ['none']],
  [
    'soniox',
    {
      ...{
        'stt-rt-preview': 'stt-rt-v5',
        'stt-rt-preview-v2': 'stt-rt-v5',
        'stt-rt-v3': 'stt-rt-v5',
        'stt-rt-v4': 'stt-rt-v5',
      },
      ...{
        'stt-async-preview': 'stt-async-v5',
        'stt-async-preview-v1': 'stt-async-v5',
        'stt-async-v3': 'stt-async-v5',
      },
    },
    { 'stt-rt-v5': 'stt-rt-v5', 'stt-async-v5': 'stt-async-v5' },
    ['stt-rt-v9', 'stt-none'],
  ],
  [
    'gladia',
    { fast: 'solaria-1', accurate: 'solaria-1', 'solaria-mini-1': 'solaria-1' },
    { solaria: 'solaria-1', 'solaria-1': 'solaria-1' },
    ['slow', 'solaria-9'],
  ],
])('%s', (vendor, replaced, same, never) => {
  it.each(Object.entries({ ...replaced, ...same }))('%s means %s, which is there', (named, model) => {
    expect(meant(vendor, named)).toBe(`${vendor}/${model}`);
    expect(meant(vendor, `${vendor}/${named}`)).toBe(`${vendor}/${model}`);
    expect([...SLUGS]).toContain(`${vendor}/${model}`);
  });

  it('warns of every name that another model stands for, and of no other', () => {
    for (const [named, model] of Object.entries(replaced)) {
      const [warning, ...more] = warned(vendor, named);
      expect([warning?.code, warning?.param, more]).toEqual(['parameter_mapped', 'model', []]);
      expect(warning?.message).toContain(named);
      expect(warning?.message).toContain(`${vendor}/${model}`);
    }
    for (const named of [...Object.keys(same), ...never, 'local/commands-en', ''])
      expect(warned(vendor, named)).toEqual([]);
  });

  it('leaves names that never existed as they are', () => {
    for (const named of never) expect(meant(vendor, named)).toBe(`${vendor}/${named}`);
  });

  it('leaves a name that the caller has given a meaning', () => {
    for (const named of Object.keys(replaced)) {
      expect(modelOf(dialectOf(vendor), named, () => true)).toBe(named);
      expect(replacedModel(dialectOf(vendor), named, () => true)).toEqual([]);
    }
  });
});

describe('a slug of another vendor', () => {
  it.each(dialects.map(({ name }) => name))('means the same at the endpoints of %s as at its own', (name) => {
    for (const [slug, model] of [
      ['deepgram/nova-3-medical', 'deepgram/nova-3'],
      ['deepgram/whisper-large', 'deepgram/nova-3'],
      ['elevenlabs/scribe_v1', 'elevenlabs/scribe_v2'],
      ['speechmatics/melia-1', 'speechmatics/enhanced'],
      ['soniox/stt-rt-v3', 'soniox/stt-rt-v5'],
    ] as const) {
      expect(meant(name, slug)).toBe(model);
      expect(warned(name, slug)).toMatchObject([{ code: 'parameter_mapped', param: 'model' }]);
    }
    expect(meant(name, 'deepgram/nova-3-general')).toBe('deepgram/nova-3');
    for (const slug of ['deepgram/nova-9', 'custom/whisper', 'custom/nova-3-medical', 'local/commands-en', 'a/b/c']) {
      expect(meant(name, slug)).toBe(slug);
      expect(warned(name, slug)).toEqual([]);
    }
  });
});

describe('a request that names a model of before', () => {
  const rig = startDialectRig();
  const wav = () => new Blob([new Uint8Array(sampleAudio('commands.wav').bytes)]);
  const post = async (path: string, headers: Record<string, string>, body: FormData | Blob) => {
    const response = await fetch(rig.gateway.url + path, { method: 'POST', headers, body });
    return { response, text: await response.text() };
  };
  const form = (fields: Record<string, string>): FormData => {
    const data = new FormData();
    for (const [name, value] of Object.entries(fields)) data.append(name, value);
    data.append('file', wav(), 'speech.wav');
    return data;
  };

  it.each<[string, string, (key: string) => Record<string, string>, () => FormData | Blob]>([
    ['deepgram', '/compat/deepgram/v1/listen?model=nova-3-medical', (key) => ({ Authorization: `Token ${key}` }), wav],
    [
      'elevenlabs',
      '/compat/elevenlabs/v1/speech-to-text',
      (key) => ({ 'xi-api-key': key }),
      () => form({ model_id: 'scribe_v1' }),
    ],
    [
      'openai',
      '/compat/openai/v1/audio/transcriptions',
      (key) => ({ Authorization: `Bearer ${key}` }),
      () => form({ model: 'gpt-4o-transcribe-2025-03-20' }),
    ],
  ])('works for %s, with a warning', async (_, path, headersOf, body) => {
    const { response, text } = await post(path, headersOf(rig.gateway.key), body());
    expect([response.status, text.length > 2]).toEqual([200, true]);
    expect(response.headers.get('voxgate-warning')).toMatch(/^parameter_mapped\b/);
  });

  it.each(['json', 'verbose_json', 'diarized_json', 'stream'])(
    'gets the warning in openai’s answer itself: %s',
    async (format) => {
      const { response, text } = await post(
        '/compat/openai/v1/audio/transcriptions',
        { Authorization: `Bearer ${rig.gateway.key}` },
        form({
          model: 'gpt-4o-transcribe-2025-03-20',
          ...(format === 'stream' ? { stream: 'true' } : { response_format: format }),
        }),
      );
      const last = format === 'stream' ? (text.trim().split('data: ').at(-1) ?? '') : text;
      const { warnings = [] } = JSON.parse(last) as { warnings?: { code: string; param: string }[] };
      expect(warnings.filter(({ code }) => code === 'parameter_mapped')).toMatchObject([{ param: 'model' }]);
      expect(response.headers.get('voxgate-warning')?.match(/parameter_mapped/g)).toHaveLength(1);
    },
  );

  it('gets the full slug at /v1, and the place where OpenAI’s names work', async () => {
    const { response, text } = await post(
      '/v1/audio/transcriptions',
      { Authorization: `Bearer ${rig.gateway.key}` },
      form({ model: 'whisper-1' }),
    );
    const { error } = JSON.parse(text);
    expect([response.status, error.code, error.param]).toEqual([404, 'model_not_found', 'model']);
    expect(error.message).toMatch(/openai\/whisper-1.*\/compat\/openai\/v1/);
    const { status, body } = await rig.gateway.connect({ model: 'gpt-4o-transcribe' }).refused();
    expect([status, JSON.parse(body).error.message]).toEqual([
      404,
      expect.stringMatching(/openai\/gpt-4o-transcribe.*\/compat\/openai\/v1/),
    ]);
  });
});
