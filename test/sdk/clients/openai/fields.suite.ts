// Fields by the SDK: those of OpenAI's API, and the gateway's own as extra members, however the SDK writes them into a form.
import type OpenAI from 'openai';
import { describe, expect, it } from 'vitest';
import { SAID } from '../../../clients/upstream.ts';
import { type Rig, refusalOf } from '../rig.ts';

/** What the types of the SDK do not know is sent along. */
type Extra = Record<string, unknown>;
const WHISPER = 'openai/whisper-1';
type Params = OpenAI.Audio.TranscriptionCreateParamsNonStreaming;

export function fieldsSuite(rig: Rig): void {
  const create = async (params: Omit<Params, 'file' | 'model'> & { model?: string } & Extra, seconds = 4) =>
    rig
      .client()
      .audio.transcriptions.create({ model: WHISPER, file: await rig.file(seconds), ...params } as Params)
      .withResponse();
  const refused = async (...params: Parameters<typeof create>) => refusalOf(create(...params));

  describe('a field of OpenAI’s API', () => {
    it('reaches a model that takes it', async () => {
      await create({ language: 'fr', prompt: 'Voxgate', temperature: 0.2 });
      const { upstream } = rig;
      expect([upstream.field('language'), upstream.field('prompt'), upstream.field('temperature')]).toEqual([
        ['fr'],
        ['Voxgate'],
        ['0.2'],
      ]);
    });

    it.each<[string, string, Extra, [string, string[]]]>([
      ['include', 'openai/gpt-4o-transcribe', { include: ['logprobs'] }, ['include[]', ['logprobs']]],
      ['chunking_strategy', 'openai/gpt-4o-transcribe', { chunking_strategy: 'auto' }, ['chunking_strategy', ['auto']]],
      [
        'chunking_strategy as an object',
        'openai/gpt-4o-transcribe',
        { chunking_strategy: { type: 'server_vad', threshold: 0.4 } },
        ['chunking_strategy', ['{"type":"server_vad","threshold":0.4}']],
      ],
      ['keywords', 'openai/gpt-transcribe', { keywords: ['Voxgate', '911'] }, ['keywords[]', ['Voxgate', '911']]],
      ['languages', 'openai/gpt-transcribe', { languages: ['en', 'fr'] }, ['languages[]', ['en', 'fr']]],
    ])('%s reaches a model that takes it', async (_, model, extra, [name, values]) => {
      const { response } = await create({ model, ...extra });
      expect(rig.upstream.field(name)).toEqual(values);
      expect(response.headers.get('voxgate-warning')).toBeNull();
    });

    it('uses the first of several languages, where a model takes one', async () => {
      // The audio is silence, for which the simulator has a script.
      const options = { response_format: 'verbose_json', speech_gate: 'off' } as const;
      const { data, response } = await create({ languages: ['fr', 'en'], ...options });
      expect(response.headers.get('voxgate-warning')).toBe('parameter_mapped;param=languages');
      expect(data).toMatchObject({ warnings: [{ param: 'languages', message: expect.stringContaining('language=') }] });
      expect((await create({ languages: ['fr'], ...options })).response.headers.get('voxgate-warning')).toBeNull();
      expect(rig.upstream.field('language')).toEqual(['fr']);
    });

    it('may be a long list, or long: every keyword, and the voices of the speakers, arrive', async () => {
      const keywords = Array.from({ length: 500 }, (_, at) => `word ${at}`);
      await create({ model: 'openai/gpt-transcribe', keywords });
      expect(rig.upstream.field('keywords[]')).toEqual(keywords);
      const voice = (letter: string) => `data:audio/wav;base64,${letter.repeat(400_000)}`;
      const voices = { known_speaker_names: ['Ann', 'Bob'], known_speaker_references: [voice('A'), voice('B')] };
      const model = 'openai/gpt-4o-transcribe-diarize';
      const { data } = await create({ model, diarization: true, response_format: 'verbose_json', ...voices });
      expect(rig.upstream.field('known_speaker_references[]')).toEqual(voices.known_speaker_references);
      expect(data).toMatchObject({ segments: [{ speaker: 0 }, { speaker: 1 }] });
    });

    it.each<[string, Extra]>([
      ['include', { include: ['logprobs'] }],
      ['chunking_strategy', { chunking_strategy: 'auto' }],
      ['chunking_strategy', { chunking_strategy: { type: 'server_vad' } }],
      ['known_speaker_names', { known_speaker_names: ['Ann'] }],
      ['known_speaker_references', { known_speaker_references: ['data:audio/wav;base64,AAAA'] }],
      ['keyterms', { keywords: ['Voxgate'] }],
      ['prompt', { prompt: 'Voxgate' }],
    ])('%s is warned about by a model that does not take it, and refused strictly', async (name, extra) => {
      const { response } = await create({ model: 'loopback/numbered', ...extra });
      const [, param] =
        /^parameter_ignored;param="?([\w[\]]+)"?$/.exec(response.headers.get('voxgate-warning') ?? '') ?? [];
      expect(param?.replace('[]', '')).toBe(name);
      const error = await refused({ model: 'loopback/numbered', strict: true, ...extra });
      expect(error).toBeInstanceOf(rig.sdk.UnprocessableEntityError);
      expect([error.code, error.param?.replace('[]', '')]).toEqual(['unsupported_parameter', name]);
    });
  });

  describe('a field of the gateway', () => {
    const numbered = 'loopback/numbered';

    it('may be a boolean', async () => {
      const { response } = await create({ diarization: true });
      expect(response.headers.get('voxgate-warning')).toMatch(/diarization/);
    });

    it.each<[string, unknown]>([
      ['a JSON string', '{"turn_seconds":1,"fail":{"how":"stall","at_seconds":60}}'],
      [
        'an object, whose members the SDK writes one by one',
        { turn_seconds: 1, fail: { how: 'stall', at_seconds: 60 } },
      ],
    ])('may be an object: `provider_params` as %s', async (_, provider_params) => {
      const { data } = await create({ model: numbered, provider_params });
      expect(data.text).toBe('0-16000 16000-32000 32000-48000 48000-64000');
    });

    it('keeps a text a text, however much it looks like a number', async () => {
      await create({ model: 'openai/gpt-transcribe', provider_params: { keywords: ['911', 'true'], prompt: '42' } });
      expect([rig.upstream.field('keywords[]'), rig.upstream.field('prompt')]).toEqual([['911', 'true'], ['42']]);
    });

    it.each<[string, unknown]>([
      ['a list', [numbered, 'loopback/script']],
      ['a list as JSON', JSON.stringify([numbered])],
      ['a text with commas', `${numbered},loopback/script`],
    ])('may be a list: `fallbacks` as %s', async (_, fallbacks) => {
      rig.upstream.refusals.push(500, 500, 500);
      const { data } = await create({ response_format: 'verbose_json', fallbacks });
      expect(data).toMatchObject({ model: numbered, fallback: [{ model: WHISPER }, { model: WHISPER }] });
    });

    it('reaches a fallback as well, with a file that is too large for memory', async () => {
      rig.upstream.refusals.push(500, 500, 500);
      const { data } = await create({ response_format: 'verbose_json', fallbacks: [numbered] }, 20);
      expect(data).toMatchObject({ model: numbered, duration: 20 });
    });

    it.each<[string, Extra, string]>([
      ['objects in a list', { fallbacks: [{ model: numbered }] }, 'fallbacks'],
      ['objects in a list of options', { provider_params: { turns: [{ text: 'a', seconds: 2 }] } }, 'provider_params'],
    ])('fails as %s, which a form cannot carry, and explains the alternative', async (_, extra, param) => {
      const error = await refused({ model: 'loopback/script', ...extra });
      expect(error).toBeInstanceOf(rig.sdk.BadRequestError);
      expect(error).toMatchObject({ code: 'invalid_request', param });
      expect(error.message).toContain('JSON.stringify');
    });

    it('fails by name with the wrong type', async () => {
      expect(await refused({ model: numbered, provider_params: { turn_seconds: 'two' } })).toMatchObject({
        status: 400,
        code: 'invalid_provider_params',
        param: 'provider_params.turn_seconds',
      });
      expect(await refused({ model: numbered, provider_params: { turns_seconds: 2 } })).toMatchObject({
        code: 'invalid_provider_params',
        param: 'provider_params.turns_seconds',
      });
      expect(await refused({ model: numbered, provider_params: '{' })).toMatchObject({
        code: 'invalid_provider_params',
        param: 'provider_params',
      });
    });

    it('fails by name when it is unknown', async () => {
      const error = await refused({ modle: 'x' });
      expect(error).toMatchObject({ status: 400, code: 'invalid_request', param: 'modle' });
      expect(error.message).toContain('Known are');
      expect(await refused({ options: { a: { b: [1] } } })).toMatchObject({ status: 400, param: 'options[a][b][]' });
    });

    it('may follow a large file', async () => {
      const { client } = rig;
      const file = await rig.file(20);
      const late = { model: numbered, file, language: 'fr', response_format: 'verbose_json' } as Params;
      expect(await client.call(rig).audio.transcriptions.create(late)).toMatchObject({
        language: 'french',
        duration: 20,
      });
    });
  });

  it('gives the same answer for any name, organisation and project of the SDK', async () => {
    const client = rig.client({
      organization: 'org-none',
      project: 'proj_none',
      defaultHeaders: { 'X-Team': 'voice' },
    });
    const { text } = await client.audio.transcriptions.create({ model: WHISPER, file: await rig.file() });
    expect(text).toBe(SAID.join(' '));
  });
}
