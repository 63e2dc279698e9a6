// What clients of other vendors call replacements and spellings becomes rules of the gateway, for any model.
import { describe, expect, it } from 'vitest';
import type { Replacement } from '../../../src/api/replacements.ts';
import { openSqliteStore } from '../../../src/node/store/sqlite-store.ts';
import type { ClientRequest } from '../../../src/vendors/compat/dialect.ts';
import * as deepgram from '../../../src/vendors/deepgram/compat/params.ts';
import * as gladia from '../../../src/vendors/gladia/compat/params.ts';
import type { JsonObject } from '../../../src/vendors/kit/json.ts';
import * as speechmatics from '../../../src/vendors/speechmatics/compat/params.ts';
import { sampleAudio, startLiveGateway } from '../../fakes/processes/live-gateway.ts';
import { OPERATOR } from '../../fakes/store/ledger.ts';

const query = new URLSearchParams();
const rulesOf = ({ parameters }: ClientRequest) => {
  const text = parameters.get('replace');
  return text === undefined ? undefined : (JSON.parse(text) as Replacement[]);
};
const optionsOf = ({ own, unmet = [] }: ClientRequest) => [own, unmet.map(({ code, param }) => [code, param])];

describe('`replace` of Deepgram', () => {
  it('is repeated, and leaves a word out that has no other', () => {
    const said = new URLSearchParams('replace=vox%20gate:Voxgate&replace=um&replace=&replace=a:10:30');
    const rules = [
      { from: 'vox gate', to: 'Voxgate' },
      { from: 'um', to: '' },
      { from: 'a', to: '10:30' },
    ];
    for (const request of [deepgram.fileRequest(said), deepgram.novaRequest(said), deepgram.fluxRequest(said)])
      expect(rulesOf(request)).toEqual(rules);
    expect(deepgram.fileRequest(said).unmet).toEqual([]);
    expect(rulesOf(deepgram.fileRequest(query))).toBeUndefined();
  });

  it('is cut to the rules that a request may have, with a warning', () => {
    const said = new URLSearchParams(Array.from({ length: 250 }, (_, n): [string, string] => ['replace', `w${n}:x`]));
    const request = deepgram.fileRequest(said);
    expect(rulesOf(request)).toHaveLength(200);
    expect(request.unmet).toMatchObject([{ code: 'parameter_shortened', param: 'replace' }]);
  });
});

describe('`replacements` of Speechmatics', () => {
  const asked = (replacements: unknown) =>
    speechmatics.requestOf(
      query,
      { language: 'en', transcript_filtering_config: { replacements } } as JsonObject,
      'live',
    );

  it('are rules for words, and options for expressions', () => {
    const words = asked([{ from: 'vox gate', to: 'Voxgate' }]);
    expect(rulesOf(words)).toEqual([{ from: 'vox gate', to: 'Voxgate' }]);
    expect(optionsOf(words)).toEqual([{}, []]);
    const expression = { from: '/vox .*/i', to: 'Voxgate' };
    const mixed = asked([expression, { from: '/', to: 'slash' }]);
    expect(rulesOf(mixed)).toEqual([{ from: '/', to: 'slash' }]);
    expect(optionsOf(mixed)).toEqual([{ replacements: [expression] }, [['parameter_ignored', 'replacements']]]);
    expect(rulesOf(asked(undefined))).toBeUndefined();
  });

  it.each([['a'], [{}], [[{ from: 'a' }]], [[{ from: '', to: 'b' }]], [['a:b']], [[{ from: 1, to: 'b' }]]])(
    'are refused by name as %j',
    (replacements) => expect(() => asked(replacements)).toThrow('`transcript_filtering_config.replacements` is a list'),
  );
});

describe('`custom_spelling` of Gladia', () => {
  const config = (more: JsonObject): JsonObject => ({
    custom_spelling: true,
    custom_spelling_config: { spelling_dictionary: { Voxgate: ['vox gate', 'fox gate'], SQL: ['sequel'] } },
    ...more,
  });
  const rules = [
    { from: 'vox gate', to: 'Voxgate' },
    { from: 'fox gate', to: 'Voxgate' },
    { from: 'sequel', to: 'SQL' },
  ];

  it('is rules, live and of files, and none where it is switched off', () => {
    const live = (processing: JsonObject) => gladia.liveRequest(query, { realtime_processing: processing }).request;
    for (const ask of [live, (each: JsonObject) => gladia.fileRequest(query, each)]) {
      expect(rulesOf(ask(config({})))).toEqual(rules);
      expect(ask(config({})).own).not.toHaveProperty('custom_spelling');
      expect(rulesOf(ask(config({ custom_spelling: false })))).toBeUndefined();
    }
  });

  it.each([[[]], ['a'], [{ Voxgate: 'vox gate' }], [{ Voxgate: [1] }]])('is refused by name as %j', (dictionary) => {
    const wrong = config({ custom_spelling_config: { spelling_dictionary: dictionary } as JsonObject });
    expect(() => gladia.fileRequest(query, wrong)).toThrow('spelling_dictionary` is an object');
  });
});

it('applies `custom_spelling` of AssemblyAI to the file of any model, and refuses it by name where it is wrong', async () => {
  const live = await startLiveGateway();
  const store = await openSqliteStore({ directory: live.directory });
  const [organisation] = await store.listOrganisations();
  const turns = [{ text: 'Welcome to vox gate and sequel.', seconds: 1 }];
  const aliases = { scripted: [{ model: 'loopback/script', provider_params: { turns } }] };
  const { secret } = await store.createKey(organisation!.id, { aliases, scopes: ['transcribe'] }, OPERATOR);
  await store.close();
  const ask = async (path: string, body?: Uint8Array<ArrayBuffer> | string) => {
    const type = typeof body === 'string' ? 'application/json' : 'application/octet-stream';
    const response = await fetch(`${live.url}/compat/assemblyai${path}`, {
      ...(body === undefined ? {} : { method: 'POST', body }),
      headers: { authorization: secret, 'Content-Type': type },
    });
    return (await response.json()) as Record<string, string>;
  };
  const { bytes } = sampleAudio('commands.wav');
  const { upload_url } = await ask('/v2/upload', new Uint8Array(bytes));
  const asked = (custom_spelling: unknown) =>
    ask('/v2/transcript', JSON.stringify({ audio_url: upload_url, speech_models: ['scripted'], custom_spelling }));
  expect(await asked([{ from: 'a' }])).toMatchObject({ error: expect.stringContaining('`custom_spelling` is a list') });
  const spelling = [
    { from: ['vox gate', 'fox gate'], to: 'Voxgate' },
    { from: ['sequel'], to: 'SQL' },
  ];
  const { id } = await asked(spelling);
  const shown = () => ask(`/v2/transcript/${id}`);
  await expect.poll(async () => (await shown()).status, { timeout: 10_000 }).toBe('completed');
  const done = await shown();
  expect(done.text).toMatch(/^(Welcome to Voxgate and SQL\. ?)+$/);
  expect(done.custom_spelling).toEqual(spelling);
});
