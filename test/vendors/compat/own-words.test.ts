// What clients of other vendors redact and tag, in their own words and in the gateway's words in the address, for any model.
import { describe, expect, it } from 'vitest';
import * as assemblyai from '../../../src/vendors/assemblyai/compat/params.ts';
import type { ClientRequest } from '../../../src/vendors/compat/dialect.ts';
import * as deepgram from '../../../src/vendors/deepgram/compat/params.ts';
import { files as elevenlabsFiles } from '../../../src/vendors/elevenlabs/compat/files.ts';
import { realtimeRequest } from '../../../src/vendors/elevenlabs/compat/params.ts';
import * as gladia from '../../../src/vendors/gladia/compat/params.ts';
import type { JsonObject } from '../../../src/vendors/kit/json.ts';
import * as livekit from '../../../src/vendors/livekit/params.ts';
import * as soniox from '../../../src/vendors/soniox/compat/params.ts';
import * as speechmatics from '../../../src/vendors/speechmatics/compat/params.ts';
import * as vercel from '../../../src/vendors/vercel/params.ts';

const ADDRESS =
  'redact=card,email&replace=vox%20gate:Voxgate&replace=um:&tags=customer:acme&prefer=price&max_cost=0.5&max_seconds=60';
const EXPECTED = {
  redact: '["card","email"]',
  replace: '[{"from":"vox gate","to":"Voxgate"},{"from":"um","to":""}]',
  tags: 'customer:acme',
  prefer: 'price',
  max_cost: '0.5',
  max_seconds: '60',
};

const handshake = (query: URLSearchParams) => ({ query, headers: new Map<string, string>(), requestId: 'req_1' });
const raw = { type: 'raw', encoding: 'pcm_s16le', sample_rate: 16_000 };
const sonioxStart = { audio_format: 'pcm_s16le', sample_rate: 16_000, num_channels: 1 };
const livekitStart = (extra: JsonObject = {}) => ({ settings: { sample_rate: 16_000, extra } });

/** How a request is read whose address has parameters of the gateway. */
const REQUESTS: Readonly<Record<string, (query: URLSearchParams) => ClientRequest>> = {
  'AssemblyAI, live': assemblyai.streamRequest,
  'ElevenLabs, live': realtimeRequest,
  'ElevenLabs, files': (query) => elevenlabsFiles.open([['model_id', 'scribe_v2']], handshake(query)),
  'Gladia, live': (query) => gladia.liveRequest(query, {}).request,
  'Gladia, files': (query) => gladia.fileRequest(query, {}),
  'Soniox, live': (query) => soniox.startRequest(query, sonioxStart).request,
  'Speechmatics, live': (query) => speechmatics.liveRequest(query, { audio_format: raw }).request,
  'Speechmatics, files': (query) => speechmatics.requestOf(query, {}, 'batch'),
  'LiveKit, live': (query) => livekit.askedOfCreate(query, livekitStart()),
  'Vercel, files': (query) => vercel.requestOf('deepgram/nova-3', {}, 'batch', query),
};

const redactOf = ({ parameters }: ClientRequest) => JSON.parse(parameters.get('redact') ?? 'null') as unknown;

describe('parameters of the gateway in the address', () => {
  it.each(Object.keys(REQUESTS))('are read for clients of %s', (name) => {
    const { parameters } = REQUESTS[name]!(new URLSearchParams(ADDRESS));
    expect(Object.fromEntries(parameters)).toMatchObject(EXPECTED);
    const none = REQUESTS[name]!(new URLSearchParams()).parameters;
    expect(Object.keys(EXPECTED).filter((each) => none.has(each))).toEqual([]);
  });

  it('are in addition to what the client requests in its own words', () => {
    const query = new URLSearchParams('redact=card&redact_pii=true');
    expect(redactOf(assemblyai.streamRequest(query))).toEqual(['card', 'pii']);
    expect(redactOf(gladia.fileRequest(query, { pii_redaction: true }))).toEqual(['card', 'pii']);
    const spelling = { custom_spelling_config: { spelling_dictionary: { SQL: ['sequel'] } } };
    const { parameters } = gladia.fileRequest(new URLSearchParams('replace=um:'), spelling);
    expect(JSON.parse(parameters.get('replace') ?? '')).toEqual([
      { from: 'sequel', to: 'SQL' },
      { from: 'um', to: '' },
    ]);
  });

  it('read `true` as all personal data, and fail by name where a rule is wrong', () => {
    expect(redactOf(assemblyai.streamRequest(new URLSearchParams('redact=true')))).toEqual(['pii']);
    expect(redactOf(assemblyai.streamRequest(new URLSearchParams('redact=false')))).toBeNull();
    expect(() => assemblyai.streamRequest(new URLSearchParams('replace=none'))).toThrow(
      '`replace` has an invalid rule',
    );
  });
});

describe('redaction in the words of a vendor', () => {
  const ofDeepgram = (query: string) => redactOf(deepgram.novaRequest(new URLSearchParams(query)));

  it.each([
    ['redact=pci&redact=phi', ['pci', 'phi']],
    ['redact=true', ['numbers']],
    ['redact=aggressive_numbers&redact=numbers', ['numbers']],
    ['redact=ssn', ['pii']],
    // They need a service here, and are kinds of Deepgram's.
    ['redact=name', ['pii']],
    ['redact=card&redact=email', ['card', 'email']],
    ['redact=pci,email', ['pci', 'email']],
    ['redact=false', null],
    ['redact=', null],
  ])('of Deepgram: %s', (query, kinds) => expect(ofDeepgram(query)).toEqual(kinds));

  it.each([
    ['pii', ['pii'], {}],
    ['["pii","pci"]', ['pii', 'pci'], {}],
    // Its own models get the kinds that only they know; any other model redacts rather too much.
    ['["name","pci"]', ['pii', 'pci'], { entity_redaction: ['name', 'pci'] }],
    ['all', ['pii'], { entity_redaction: ['all'] }],
  ])('of ElevenLabs: %s', (value, kinds, own) => {
    const fields = [['entity_redaction', value] as const];
    const request = elevenlabsFiles.open(fields, handshake(new URLSearchParams()));
    expect(redactOf(request)).toEqual(kinds);
    expect(request.own).toEqual(own);
  });

  it.each<[JsonObject, unknown]>([
    [{ redact: 'pci' }, ['pci']],
    [{ redact: ['pci', 'ssn'] }, ['pci', 'pii']],
    [{ redact_pii: true }, ['pii']],
    [{ redact_pii_policies: ['person_name'] }, ['pii']],
    [{ redact: false, redact_pii: false }, null],
    [{}, null],
  ])('of LiveKit: %j', (extra, kinds) => {
    const request = livekit.askedOfCreate(new URLSearchParams(), livekitStart(extra));
    expect(redactOf(request)).toEqual(kinds);
    expect(request.own).toEqual({});
  });

  it('of Vercel is in addition to that of the address', () => {
    const asked = (redact: unknown) =>
      redactOf(
        vercel.requestOf('a/b', { voxgate: { redact } as JsonObject }, 'live', new URLSearchParams('redact=card')),
      );
    expect([asked(['email']), asked('email,phone'), asked(true), asked(undefined)]).toEqual([
      ['card', 'email'],
      ['card', 'email', 'phone'],
      ['card', 'pii'],
      ['card'],
    ]);
  });
});

describe('`tag` of Deepgram', () => {
  const asked = (query: string) => deepgram.fileRequest(new URLSearchParams(query));
  const tagsOf = (query: string) => JSON.parse(asked(query).parameters.get('tags') ?? 'null') as unknown;

  it.each([
    ['tag=customer:acme&tag=project:x', { customer: 'acme', project: 'x' }],
    ['tag=nightly', { tag: 'nightly' }],
    ['tag=customer:acme&tag=nightly', { customer: 'acme', tag: 'nightly' }],
    // Keys have small letters.
    ['tag=Customer:acme', { tag: 'Customer:acme' }],
    ['tag=customer:acme&tags=customer:other,team:a', { customer: 'other', team: 'a' }],
    ['tag=', null],
  ])('is tags: %s', (query, tags) => {
    expect(tagsOf(query)).toEqual(tags);
    expect(asked(query).unmet).toEqual([]);
  });

  it.each([
    ['tag=one&tag=two', { tag: 'one' }],
    ['tag=customer:a&tag=customer:b', { customer: 'a' }],
    [`tag=${'x'.repeat(128)}`, null],
    [`tag=${encodeURIComponent('a\u0000b')}&tag=b`, { tag: 'b' }],
    [Array.from({ length: 12 }, (_, n) => `tag=k${n}:x`).join('&'), expect.objectContaining({ k0: 'x', k9: 'x' })],
  ])('causes a warning where a text is left out: %j', (query, tags) => {
    expect(tagsOf(query)).toEqual(tags);
    expect(asked(query).unmet).toMatchObject([{ code: 'parameter_shortened', param: 'tag' }]);
  });
});
