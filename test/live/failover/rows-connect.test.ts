// Incidents before the first word, on one live protocol of each shape, the first rows on every one: providers that cannot
// be reached, refuse the credential or ask to be left alone; and what the breakers make of it.
import { describe, expect, it } from 'vitest';
import type { ProviderSimulator } from '../../../src/vendors/kit/simulation.ts';
import { simulatorOf } from './altered.ts';
import { expectAllHeard, expectFailover, Incident, type IncidentOptions, toldAt } from './incident.ts';
import { DRAWN, providerOf } from './protocols.ts';

/** From a failure to the dial of the next candidate, and to the failover event. */
const NEXT_DIAL_MS = 300;

describe.each(DRAWN)('$slug', (protocol) => {
  const { slug, provider, fallback, timing } = protocol;
  const chain = [slug, fallback];
  const guarded = (credentialId: string) => ({ slug, credentialId, organisationId: 'org_1' });

  it.each<[string, string, number, IncidentOptions]>([
    ['refuses the connection', 'connect_failed', 0, { dials: { [provider]: ['refuse'] } }],
    ['is not there', 'connect_timeout', timing.connectMs, { dials: { [provider]: ['hang'] } }],
    ['never answers the handshake', 'connect_timeout', timing.connectMs, { faults: { [provider]: ['hang'] } }],
  ])('dials the next candidate within 300 ms and loses no audio when it %s', async (_, reason, ms, options) => {
    const incident = new Incident(options);
    const caller = await incident.play(chain);
    expectFailover(caller, incident, protocol, reason);
    expect(incident.dialsTo(provider)).toHaveLength(1);
    const [dialledMs] = incident.dialsTo(providerOf(fallback)) as [number];
    expect(dialledMs).toBeGreaterThanOrEqual(ms);
    expect(dialledMs).toBeLessThanOrEqual(ms + NEXT_DIAL_MS);
    await incident.close();
  });

  it.each(['bad-key', 'broke-key'])(
    'refuses the credential %s in its own way: it is not asked again, not even when nothing else is left',
    async (credential) => {
      const incident = new Incident({ credentials: { [provider]: credential } });
      const caller = await incident.play([slug]);
      expect(incident.dialsTo(provider)).toHaveLength(1);
      expect(incident.failures.map(({ failure }) => failure.kind)).toEqual(['account']);
      expect(caller.client.of('error').map(({ error }) => error.code)).toEqual(['upstream_failed']);
      expect(caller.client.of('discontinuity')).toHaveLength(1);
      await incident.close();
    },
  );

  it('fails over when the account has too many sessions, and keeps the credential usable', async () => {
    const incident = new Incident({ credentials: { [provider]: 'limited-key' } });
    const caller = await incident.play(chain);
    expectAllHeard(caller, incident);
    expect(incident.failures.map(({ failure }) => failure.kind)).toEqual(['next']);
    expect(incident.rig.breakers.isOpen(guarded('service'))).toBe(false);
    await incident.close();
  });

  if (!protocol.isFull) return;

  it.each([401, 402, 403])(
    'answers %d: it is not asked again, and only the breaker of this credential opens, for who met it',
    async (status) => {
      const incident = new Incident({ faults: { [provider]: [`refuse=${status}`] } });
      const caller = await incident.play(chain);
      expectFailover(caller, incident, protocol, 'connect_failed');
      expect(incident.dialsTo(provider)).toHaveLength(1);
      expect(toldAt(caller, 'failover')).toBeLessThanOrEqual(NEXT_DIAL_MS);
      expect(incident.failures.map(({ failure }) => failure.kind)).toEqual(['account']);
      const { breakers } = incident.rig;
      expect([breakers.isOpen(guarded('service')), breakers.isOpen(guarded('of-another'))]).toEqual([true, false]);
      expect(breakers.isOpen({ ...guarded('service'), organisationId: 'org_2' })).toBe(false);
      await incident.close();
    },
  );

  it.each([400, 404, 413, 422])(
    'answers %d and names no option of the customer’s: the next takes over',
    async (status) => {
      const incident = new Incident({ faults: { [provider]: [`refuse=${status}`] } });
      const caller = await incident.play(chain);
      expectFailover(caller, incident, protocol, incident.failures[0]?.failure.reason as string);
      expect(incident.dialsTo(provider)).toHaveLength(1);
      await incident.close();
    },
  );

  it.each<[string, string | undefined, number]>([
    ['nothing', undefined, 0],
    ['2 s', '2', 0],
    ['30 s', '30', 30_000],
    ['7 days', '604800', 300_000],
    ['a date', 'Wed, 21 Oct 2037 07:28:00 GMT', 0],
    ['words', 'soon', 0],
    ['a time below zero', '-5', 0],
  ])('answers 429 with %s of Retry-After: its breaker is open for as long, at most five minutes', async (...row) => {
    const [, retryAfter, openMs] = row;
    const simulator = askingForTime(provider, retryAfter);
    const incident = new Incident({ simulator, faults: { [provider]: ['refuse=429'] } });
    const caller = await incident.play(chain);
    expectFailover(caller, incident, protocol, 'connect_failed');
    expect(incident.dialsTo(provider)).toHaveLength(1);
    const failedMs = incident.failures[0]?.atMs as number;
    const { breakers } = incident.rig;
    if (openMs > 0) {
      await incident.until(failedMs + openMs - 1);
      expect(breakers.isOpen(guarded('service'))).toBe(true);
      await incident.until(failedMs + openMs);
    }
    expect(breakers.isOpen(guarded('service'))).toBe(false);
    await incident.close();
  });

  it('answers 503 once: the same model is asked once more, and there is no failover', async () => {
    const incident = new Incident({ faults: { [provider]: ['refuse-next=1'] } });
    const caller = await incident.play(chain);
    expectAllHeard(caller, incident);
    expect(caller.client.of('failover')).toEqual([]);
    expect(incident.dialsTo(provider)).toHaveLength(2);
    await incident.close();
  });

  it('fails, and so does its fallback: each is tried, and the error names every attempt', async () => {
    const down = ['refuse=503'];
    const other = providerOf(fallback);
    const incident = new Incident({ faults: { [provider]: down, [other]: down } });
    const caller = await incident.play(chain);
    const [error] = caller.client.of('error');
    expect(error?.error.code).toBe('upstream_exhausted');
    const attempts = [slug, slug, fallback, fallback, slug, slug, fallback, fallback];
    expect(error?.error.details).toEqual(attempts.map((model) => ({ model, reason: 'connect_failed' })));
    expect(incident.dials.map((dial) => dial.provider)).toEqual(attempts.map(providerOf));
    expect([caller.client.closeCode, caller.client.of('failover')]).toEqual([4101, []]);
    const [ended] = caller.client.of('session_ended');
    expect(caller.client.of('discontinuity')).toMatchObject([{ from: 0, to: ended?.audio_seconds }]);
    await incident.close();
  });
});

// Without the providers that send nothing before speech: only their silence shows it (rows-midstream).
it.each(DRAWN.filter(({ readyAtOnce }) => !readyAtOnce))(
  '$slug accepts the connection and never gets ready: the next candidate takes over, and no audio is lost',
  async (protocol) => {
    const { slug, provider, fallback, timing } = protocol;
    const incident = new Incident({ faults: { [provider]: ['mute'] } });
    const caller = await incident.play([slug, fallback]);
    expectFailover(caller, incident, protocol, 'connect_timeout');
    expect(incident.failures).toMatchObject([{ failure: { code: 'ready_timeout' } }]);
    expect(toldAt(caller, 'failover')).toBeLessThanOrEqual(timing.readyMs + NEXT_DIAL_MS);
    await incident.close();
  },
);

it('blames the account when OpenAI refuses for lack of quota, although it comes as 429', async () => {
  const incident = new Incident({ credentials: { openai: 'broke-key' } });
  const caller = await incident.play(['openai/gpt-4o-transcribe', 'deepgram/nova-3']);
  expectAllHeard(caller, incident);
  expect(incident.failures).toMatchObject([{ failure: { kind: 'account', code: 'insufficient_quota' } }]);
  expect(incident.dialsTo('openai')).toHaveLength(1);
  expect(
    incident.rig.breakers.isOpen({
      slug: 'openai/gpt-4o-transcribe',
      credentialId: 'service',
      organisationId: 'org_1',
    }),
  ).toBe(true);
  await incident.close();
});

it('leaves a provider alone for as long as it requests each time', async () => {
  const slug = 'openai/gpt-4o-transcribe';
  const incident = new Incident({ simulator: askingForTime('openai', '30'), faults: { openai: ['refuse=429'] } });
  await incident.play([slug, 'deepgram/nova-3']);
  await incident.until(20_000);
  // With nothing else to try it is asked all the same.
  await incident.play([slug]);
  const lastMs = incident.failures.at(-1)?.atMs as number;
  const isOpen = () => incident.rig.breakers.isOpen({ slug, credentialId: 'service', organisationId: 'org_1' });
  await incident.until(lastMs + 29_999);
  expect(isOpen()).toBe(true);
  await incident.until(lastMs + 30_000);
  expect(isOpen()).toBe(false);
  await incident.close();
});

it.each(['concurrent-1008', 'concurrent-3009'])(
  'AssemblyAI’s refusal for too many sessions (%s) says nothing against the credential',
  async (quirk) => {
    const incident = new Incident({ faults: { assemblyai: [quirk] } });
    const caller = await incident.play(['assemblyai/u3-rt-pro', 'deepgram/nova-3']);
    expectAllHeard(caller, incident);
    expect(incident.failures.map(({ failure }) => failure.kind)).toEqual(['next']);
    await incident.close();
  },
);

it.each<[string, string, number]>([
  ['deepgram/nova-3', 'openai/gpt-4o-transcribe', 1008],
  ...[3006, 4000, 4101].map((code) => ['assemblyai/u3-rt-pro', 'deepgram/nova-3', code] as [string, string, number]),
])('%s is failed over to %s when it closes with %d after the options were accepted', async (slug, fallback, code) => {
  const incident = new Incident({ faults: { [providerOf(slug)]: [`close-after=1s:${code}`] } });
  const caller = await incident.play([slug, fallback]);
  expectAllHeard(caller, incident);
  expect(caller.client.of('failover')).toMatchObject([{ from: slug, to: fallback }]);
  await incident.close();
});

it('AssemblyAI calls a good key badly padded once: it is asked once more, and there is no failover', async () => {
  const incident = new Incident({ faults: { assemblyai: ['incorrect-padding'] } });
  const caller = await incident.play(['assemblyai/u3-rt-pro', 'deepgram/nova-3']);
  expectAllHeard(caller, incident);
  expect(incident.failures).toMatchObject([{ failure: { kind: 'retry' } }]);
  expect([caller.client.of('failover'), incident.dialsTo('assemblyai').length]).toEqual([[], 2]);
  await incident.close();
});

it('ends Deepgram’s leg at once on an Error message, although the connection stays open', async () => {
  const incident = new Incident({ faults: { deepgram: ['error-message=1'] } });
  const caller = await incident.play(['deepgram/nova-3', 'openai/gpt-4o-transcribe']);
  expectAllHeard(caller, incident);
  expect(toldAt(caller, 'failover')).toBeLessThanOrEqual(1_000 + NEXT_DIAL_MS);
  await incident.close();
});

/** The simulator, which refuses with that `Retry-After`. */
function askingForTime(provider: string, retryAfter: string | undefined): ProviderSimulator {
  const simulator = simulatorOf(provider);
  return {
    ...simulator,
    refusal: (status) => {
      const { 'retry-after': _, ...headers } = simulator.refusal(status).headers ?? {};
      const asked: Record<string, string> = retryAfter === undefined ? {} : { 'retry-after': retryAfter };
      return { ...simulator.refusal(status), headers: { ...headers, ...asked } };
    },
  };
}
