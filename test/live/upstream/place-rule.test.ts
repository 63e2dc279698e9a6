// Whoever dials keeps to the rule of the leg or the file, with what is really dialled with: the provider's endpoint is chosen by it, and
// nothing is sent where it would be left.
import { expect, it, test } from 'vitest';
import type { LegReport, OpenLeg } from '../../../machines/events.ts';
import type { NamedRegion } from '../../../src/api/residency-rule.ts';
import { accessWithin, legRequestOf } from '../../../src/live/upstream/leg-connection.ts';
import { UpstreamHost } from '../../../src/live/upstream/upstream-host.ts';
import { providers } from '../../../src/vendors/index.ts';
import { keepsTo } from '../../../src/vendors/kit/places.ts';
import type { ProviderAccess } from '../../../src/vendors/kit/provider.ts';
import { EventClock } from '../../simulation/event-clock.ts';

const known = new Map(providers.map((provider) => [provider.name, provider]));
const OPTED_OUT = { mip_opt_out: true };

const legOf = (slug: string, regions: NamedRegion[] | null, params: Record<string, unknown> = {}): OpenLeg => ({
  ...{ type: 'leg.open', session: '', sessionId: 'ses_1', generation: 1, slug, sampleRate: 16_000 },
  ...{ language: null, interimResults: true, diarization: false, params },
  ...{ credentialId: 'service', organisationId: 'org_1' },
  ...(regions === null ? {} : { rule: { regions, retention: null } }),
});
const keyOf = (region?: string): ProviderAccess => ({
  ...{ baseUrl: undefined, credential: undefined },
  fields: { api_key: 'key', ...(region === undefined ? {} : { region }) },
});

function dialled(leg: OpenLeg, access: ProviderAccess): string | undefined {
  const within = accessWithin(leg, access, known);
  const [name = '', model = ''] = leg.slug.split('/');
  const endpoint = within && known.get(name)?.live?.(model).open(legRequestOf(leg, within)).endpoint;
  if (endpoint === undefined || endpoint.kind === 'embedded') return endpoint?.engine;
  const url = new URL(endpoint.kind === 'request' ? endpoint.request.url : endpoint.url);
  return `${url.host}${url.searchParams.has('region') ? `?${url.searchParams.get('region')}` : ''}`;
}

it.each<[string, NamedRegion[] | null, string | undefined, string | undefined]>([
  ['deepgram/nova-3', null, undefined, 'api.deepgram.com'],
  ['deepgram/nova-3', ['eu'], undefined, 'api.eu.deepgram.com'],
  ['deepgram/flux-general-en', ['in', 'au'], undefined, 'api.au.deepgram.com'],
  ['deepgram/nova-3', null, 'eu', 'api.eu.deepgram.com'],
  ['deepgram/nova-3', ['us'], undefined, undefined],
  ['assemblyai/universal-3-6-pro', null, undefined, 'streaming.assemblyai.com'],
  ['assemblyai/universal-3-6-pro', ['eu'], undefined, 'streaming.eu.assemblyai.com'],
  ['assemblyai/universal-3-6-pro', ['us'], undefined, 'streaming.us.assemblyai.com'],
  ['assemblyai/universal-3-6-pro', ['us'], 'eu', undefined],
  ['soniox/stt-rt-v5', null, undefined, 'stt-rt.soniox.com'],
  ['soniox/stt-rt-v5', ['eu'], 'eu', 'stt-rt.eu.soniox.com'],
  ['soniox/stt-rt-v5', ['eu'], undefined, undefined],
  ['speechmatics/enhanced', ['us'], undefined, 'us.rt.speechmatics.com'],
  ['speechmatics/enhanced', ['eu', 'us'], undefined, 'eu.rt.speechmatics.com'],
  ['elevenlabs/scribe_v2_realtime', null, undefined, 'api.elevenlabs.io'],
  ['elevenlabs/scribe_v2_realtime', ['eu'], 'eu', 'api.eu.residency.elevenlabs.io'],
  ['elevenlabs/scribe_v2_realtime', ['eu'], undefined, undefined],
  ['revai/machine', ['eu'], 'eu', 'ec1.api.rev.ai'],
  ['gladia/solaria-1', null, undefined, 'api.gladia.io'],
  ['gladia/solaria-1', ['eu'], undefined, 'api.gladia.io?eu-west'],
  ['gladia/solaria-1', ['eu'], 'us-west', undefined],
  ['openai/gpt-live-transcribe', ['europe'], 'eu', undefined],
  ['local/digits-en', ['self'], undefined, 'local'],
])('%s in %s, with a key of %s, is dialled at %s', (slug, regions, region, host) => {
  const params = slug.startsWith('deepgram/') && regions !== null ? OPTED_OUT : {};
  expect(dialled(legOf(slug, regions, params), keyOf(region))).toBe(host);
});

it('never dials a leg without the option that its rule needs', () => {
  expect(dialled(legOf('deepgram/nova-3', ['eu']), keyOf())).toBeUndefined();
});

it.each([
  ['assemblyai/universal-2', ['eu'], 'api.eu.assemblyai.com'],
  ['speechmatics/enhanced', ['au'], 'au1.asr.api.speechmatics.com'],
  ['openai/whisper-1', ['europe'], undefined],
] as const)('sends a file of %s in %s to %s', (slug, regions, host) => {
  const provider = known.get(slug.split('/')[0] as string)!;
  const card = provider.models.find(({ id }) => id === slug)!;
  const access = keepsTo({ provider, card, mode: 'batch', params: {}, access: keyOf() }, { regions, retention: null });
  const { batch } = provider;
  if (access === undefined || batch?.kind !== 'http') return expect(host).toBeUndefined();
  const file = { name: 'audio.wav', contentType: 'audio/wav', bytes: 44, seconds: 1 };
  const asked = { language: undefined, diarization: false, prompt: undefined, temperature: undefined };
  const { step } = batch.begin({
    model: slug.split('/')[1]!,
    ...asked,
    wordTimestamps: false,
    params: {},
    access,
    file,
  });
  expect(step.type === 'request' && new URL(step.request.url).host).toBe(host);
});

test('connects to nothing outside the required region: an unknown URL is refused', async () => {
  const clock = new EventClock();
  const upstream = new UpstreamHost({
    providers: known,
    engines: {},
    access: () => ({ baseUrl: 'wss://proxy.example', credential: 'key' }),
    clock,
    openSocket: () => expect.fail('It was dialled.'),
  });
  const reports: LegReport[] = [];
  upstream.open('leg.1', legOf('deepgram/nova-3', ['eu'], OPTED_OUT), (report) => reports.push(report));
  await clock.run(60_000, () => reports.length > 0);
  expect(reports).toMatchObject([{ type: 'leg.failed', failure: { kind: 'next', code: 'place_not_kept' } }]);
  expect(upstream.size).toBe(0);
});
