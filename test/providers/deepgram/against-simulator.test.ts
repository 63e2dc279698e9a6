// The codec over real sockets against the simulator with numbered audio: the finals cover every sample exactly once.
import { afterEach, describe, expect, it } from 'vitest';
import { SimulatedClock } from 'xstate';
import type { Heard, LegReport, OpenLeg, Utterance } from '../../../machines/events.ts';
import { deepgram } from '../../../src/providers/deepgram/index.ts';
import { simulator } from '../../../src/providers/deepgram/simulator/index.ts';
import type { BatchResult } from '../../../src/providers/provider.ts';
import type { ProviderSimulator } from '../../../src/providers/simulation.ts';
import { numberedEar, scriptEar } from '../../../src/simulator/ears.ts';
import { SimulatorServer } from '../../../src/simulator/server.ts';
import { systemClock } from '../../../src/telemetry/clock.ts';
import { transcribeThroughLeg } from '../../../src/transcription/through-leg.ts';
import { LegFailed } from '../../../src/upstream/leg-failed.ts';
import { UpstreamHost } from '../../../src/upstream/upstream-host.ts';
import { numberedAudio } from '../../fakes/numbered-audio.ts';
import { expectWhole } from '../../fakes/numbered-finals.ts';
import { quickClock, RATE } from './support.ts';

/** The simulator's time; the gateway's is real. */
const SPEED = 40;

const disposers: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const dispose of disposers.splice(0)) await dispose();
});

const opening = (model: string, params: Record<string, unknown> = {}): OpenLeg => ({
  type: 'leg.open',
  session: '',
  sessionId: 'job_1',
  generation: 1,
  slug: `deepgram/${model}`,
  sampleRate: RATE,
  language: null,
  interimResults: true,
  diarization: false,
  params,
  credentialId: 'service',
  organisationId: 'org_1',
});

async function world(
  faults: readonly string[] = [],
  ear = numberedEar({ turnSeconds: 2 }),
  clock: SimulatedClock | undefined = undefined,
  provider: ProviderSimulator = simulator,
) {
  const server = await SimulatorServer.start({ simulator: provider, ear, faults, clock: quickClock(SPEED) });
  const upstream = new UpstreamHost({
    providers: new Map([['deepgram', deepgram]]),
    engines: {},
    access: () => ({ baseUrl: server.url, credential: 'good-key' }),
    clock: clock ?? systemClock,
  });
  disposers.push(
    () => upstream.close(),
    () => server.close(),
  );
  return { upstream };
}

async function* chunks(audio: Uint8Array, bytes: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < audio.length; at += bytes) yield audio.subarray(at, at + bytes);
}

/** What Flux heard of the silence behind the audio is zeros, which numbered audio has no place for. */
const withoutPadding = (text: string): string =>
  text
    .split(' ')
    .filter((range) => Number(range.split('-')[1]) - Number(range.split('-')[0]) > 1)
    .join(' ');

const finalsOf = (utterances: readonly Utterance[]) =>
  utterances
    .filter(({ text }) => text !== '')
    .map(({ text, start, end }, turn) => ({ text: withoutPadding(text), start, end, turn }));

describe('numbered audio', () => {
  it.each([
    ['nova-3', [], {}],
    ['nova-3', ['late-speech-final'], {}],
    ['nova-3', ['utterance-end-only'], {}],
    ['nova-3', ['slow-results'], {}],
    ['nova-3', [], { endpointing: false, utterance_end_ms: 1_000 }],
    ['nova-3', ['duplicate-finals'], {}],
    ['flux-general-en', [], {}],
    ['flux-general-multi', ['duplicate-finals'], {}],
  ])('through %s with %j and %j is covered by finals, every sample once', async (model, faults, params) => {
    const { upstream } = await world(faults);
    const samples = 7 * RATE + 4_321;
    const audio = chunks(numberedAudio(0, samples), 3_200);
    const request = opening(model, params);
    const { utterances } = await transcribeThroughLeg(upstream, 'leg_1', request, audio, AbortSignal.timeout(15_000));
    const finals = finalsOf(utterances);
    // Turns may be joined where the provider does not end them by itself.
    if (model === 'nova-3' && (faults.length > 0 || 'endpointing' in params)) {
      const ranges = finals.flatMap(({ text }) => text.split(' '));
      expect(ranges).toEqual(['0-32000', '32000-64000', '64000-96000', `30464-${30_464 + samples - 96_000}`]);
      expect(Math.round((finals.at(-1)?.end ?? 0) * RATE)).toBe(samples);
    } else expectWhole(finals, samples);
  });

  it('with pauses that were filled keeps its places on the leg’s own clock', async () => {
    const clock = new SimulatedClock();
    const { upstream } = await world([], numberedEar({ turnSeconds: 2 }), clock);
    const leg = liveLeg(upstream, 'flux-general-en');
    await leg.until((report) => report.type === 'leg.ready');
    leg.audio(numberedAudio(0, RATE));
    clock.increment(500);
    clock.increment(500);
    leg.audio(numberedAudio(RATE, 2 * RATE + 800));
    // On the wire the first turn is one second of audio and one of silence.
    const first = await leg.until(isFinal);
    leg.command({ type: 'leg.finish' });
    const second = await leg.until((report) => isFinal(report) && report !== first);
    await leg.until((report) => report.type === 'leg.finished');
    expect(finalsOf([first, second].map(utteranceIn))).toEqual([
      { text: '0-16000', start: 0, end: 1, turn: 0 },
      { text: `16000-${2 * RATE + 800}`, start: 1, end: 2.05, turn: 1 },
    ]);
  });
});

describe('whatever the provider does wrong', () => {
  const FAULTS = [
    'unknown-messages',
    'binary-messages',
    'non-object-json',
    'revised-interims',
    'tiny-fragments',
    'latency=2s',
    'late-finals=500ms',
    'late-final-after-next',
    'restart-times',
  ];

  it.each(['nova-3', 'flux-general-en'].flatMap((model) => FAULTS.map((fault) => [model, fault] as const)))(
    '%s with %s loses no words in silence, and says none twice',
    async (model, fault) => {
      const { upstream } = await world([fault]);
      const audio = chunks(numberedAudio(0, 5 * RATE), 3_200);
      const heard = await transcribeThroughLeg(
        upstream,
        'leg_1',
        opening(model),
        audio,
        AbortSignal.timeout(15_000),
      ).catch((error: unknown) => error);
      if (heard instanceof LegFailed) {
        expect(heard.failure).toMatchObject({ kind: 'retry', code: 'final_missing' });
        return;
      }
      const { utterances } = heard as BatchResult;
      const ranges = finalsOf(utterances).flatMap(({ text }) => text.split(' '));
      expect(ranges.sort()).toEqual(['0-32000', '32000-64000', '64000-80000']);
    },
  );
});

describe('a leg', () => {
  const ear = () => scriptEar({ turns: [{ text: 'one two three', seconds: 1 }] });
  const over = (report: Report) => report.type === 'leg.finished' || report.type === 'leg.failed';

  it.each([
    ['nova-3', 'refuse=401', 'account', 'INVALID_AUTH'],
    ['nova-3', 'refuse=429', 'next', 'TOO_MANY_REQUESTS'],
    ['nova-3', 'refuse=503', 'retry', 'http_503'],
    ['flux-general-en', 'refuse=402', 'account', 'ASR_PAYMENT_REQUIRED'],
    ['nova-3', 'error-after=0ms', 'retry', 'NET-0000'],
    ['nova-3', 'close-after=1s:1011', 'retry', 'close_1011'],
    ['flux-general-en', 'close-after=1s:1008', 'next', 'close_1008'],
  ])('of %s with %s fails as %s %s', async (model, fault, kind, code) => {
    const { upstream } = await world([fault], ear());
    const leg = liveLeg(upstream, model);
    const first = await leg.until((report) => report.type === 'leg.ready' || over(report));
    if (first.type === 'leg.ready') leg.audio(new Uint8Array(3 * RATE));
    expect(await leg.until(over)).toMatchObject({ type: 'leg.failed', failure: { kind, code } });
  });

  it.each([
    ['nova-3', 'no-metadata', 1, 'leg.finished', undefined],
    ['nova-3', 'no-metadata', 1.5, 'leg.failed', 'final_missing'],
    ['nova-3', 'swallow-finalize', 1.5, 'leg.finished', undefined],
    ['flux-general-en', 'no-force-end-turn', 1.5, 'leg.failed', 'UNPARSABLE_CLIENT_MESSAGE'],
  ])('of %s with %s ends after %d s of audio as %s %s', async (model, fault, seconds, type, code) => {
    const { upstream } = await world([fault], ear());
    const leg = liveLeg(upstream, model);
    await leg.until((report) => report.type === 'leg.ready');
    leg.audio(new Uint8Array(2 * seconds * RATE));
    await leg.until((report) => report.type === 'leg.heard' && report.heard.type === 'turn.ended');
    leg.command({ type: 'leg.finish' });
    expect(await leg.until(over)).toMatchObject({ type, ...(code === undefined ? {} : { failure: { code } }) });
  });

  it('that is dropped tells the provider to end its count', async () => {
    let tell = (_text: string) => {};
    const told = new Promise<string>((resolve) => {
      tell = resolve;
    });
    const { upstream } = await world([], ear(), undefined, {
      ...simulator,
      upgrade(request, tools) {
        const upgrade = simulator.upgrade(request, tools);
        if ('refuse' in upgrade) return upgrade;
        return {
          connect(peer) {
            const connection = upgrade.connect(peer);
            return { text: tell, bytes: (bytes) => connection.bytes(bytes), gone: () => connection.gone() };
          },
        };
      },
    });
    const leg = liveLeg(upstream, 'nova-3');
    await leg.until((report) => report.type === 'leg.ready');
    upstream.close();
    expect(await told).toBe('{"type":"CloseStream"}');
  });
});

type Report = LegReport;
type Final = Extract<Heard, { type: 'turn.ended' }>;

function liveLeg(upstream: UpstreamHost, model: string) {
  const reports: Report[] = [];
  let wake = () => {};
  let sequence = 0;
  const leg = upstream.open('leg_1', opening(model), (report) => {
    reports.push(report);
    wake();
  });
  return {
    command: leg.command.bind(leg),
    audio(bytes: Uint8Array) {
      sequence++;
      leg.command({ type: 'leg.audio', sequence }, bytes);
    },
    async until(wanted: (report: Report) => boolean): Promise<Report> {
      for (;;) {
        const found = reports.find(wanted);
        if (found !== undefined) return found;
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    },
  };
}

const isFinal = (report: Report): boolean =>
  report.type === 'leg.heard' && report.heard.type === 'turn.ended' && report.heard.utterance?.text !== '';
const utteranceIn = (report: Report): Utterance =>
  (report.type === 'leg.heard' ? (report.heard as Final).utterance : undefined) ?? { text: '', start: 0, end: 0 };
