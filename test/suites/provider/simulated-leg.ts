// One leg to a simulated provider, on a network in memory under one clock: it is sent numbered audio as it is spoken, and what
// it reports is kept. Nothing waits for real time.
import type { LegFailure, Utterance } from '../../../machines/events.ts';
import { isCustom } from '../../../src/api/slug.ts';
import { type LegHandle, UpstreamHost } from '../../../src/live/upstream/upstream-host.ts';
import type { Outgoing, Provider } from '../../../src/vendors/kit/provider.ts';
import type { ProviderSimulator } from '../../../src/vendors/kit/simulation.ts';
import { TurnText } from '../../../src/vendors/kit/turn-text.ts';
import { numberedEar } from '../../../src/vendors/simulation/ears.ts';
import { SimulatorStage } from '../../../src/vendors/simulation/stage.ts';
import { numberedAudio } from '../../fakes/audio/numbered-audio.ts';
import { SimulatedNetwork } from '../../fakes/network/simulated-network.ts';
import { EventClock } from '../../simulation/event-clock.ts';

const FRAME_SECONDS = 0.1;
/** Of numbered audio. No whole number of frames or turns of any provider. */
export const TURN_SECONDS = 2;
const LONGEST_MS = 3_600_000;

export interface Told extends Utterance {
  turn: number;
}

export interface LegOptions {
  provider: Provider;
  simulator: ProviderSimulator;
  model: string;
  sampleRate: number;
  seconds: number;
  params?: Readonly<Record<string, unknown>>;
  faults?: readonly string[];
  /** Ends of turns are asked for at these seconds of the audio. */
  finalizeAt?: readonly number[];
  /** Nothing is sent for so long, behind so many seconds of the audio. */
  pause?: { afterSeconds: number; ms: number };
  /** A good one without this. */
  credential?: string;
  /** The leg is let go of when all audio was sent, in place of finishing it. */
  leaves?: boolean;
}

export interface Outcome {
  finals: Told[];
  /** "finished", or kind and code of the failure; undefined where the leg was let go of. */
  end: string | undefined;
  failure?: LegFailure;
  samples: number;
  /** The frames that the provider was sent: texts, and bytes in hexadecimal. */
  sent: string[];
}

export async function playLeg(options: LegOptions): Promise<Outcome> {
  const { provider, simulator, model, sampleRate, faults = [], params = {}, credential = 'good-key' } = options;
  const clock = new EventClock();
  const network = new SimulatedNetwork();
  const sent: string[] = [];
  const noted = noting(simulator, (frame) => sent.push(shownFrame(frame)));
  network.serve(
    'provider.test',
    new SimulatorStage({ simulator: noted, ear: numberedEar({ turnSeconds: TURN_SECONDS }), clock, faults }),
  );
  const upstream = new UpstreamHost({
    providers: new Map([[provider.name, provider]]),
    engines: {},
    access: () => ({ baseUrl: 'ws://provider.test', credential }),
    clock,
    openSocket: network.openSocket,
    http: { pools: network.pools(clock), clock },
  });
  const samples = Math.round(options.seconds * sampleRate);
  const outcome: Outcome = { finals: [], end: undefined, samples, sent };
  const text = new TurnText();
  let over = false;
  const leg: LegHandle = upstream.open(
    'leg',
    {
      ...{
        type: 'leg.open',
        session: '',
        sessionId: 'job',
        generation: 1,
        slug: isCustom(provider.name) ? provider.name : `${provider.name}/${model}`,
        sampleRate,
      },
      ...{ language: null, interimResults: true, diarization: false, params: { ...params } },
      ...{ credentialId: 'service', organisationId: 'org_1' },
    },
    (report) => {
      if (report.type === 'leg.ready') speak();
      if (report.type === 'leg.finished') outcome.end = 'finished';
      if (report.type === 'leg.failed') {
        outcome.failure = report.failure;
        outcome.end = `${report.failure.kind} ${report.failure.code}`;
      }
      over ||= outcome.end !== undefined;
      if (report.type !== 'leg.heard' || !('turnId' in report.heard)) return;
      const step = text.hear(report.heard);
      if (step.type === 'formatted') outcome.finals.pop();
      if (step.type === 'ended' || step.type === 'formatted')
        outcome.finals.push({ ...step.utterance, turn: outcome.finals.length });
    },
  );
  const frame = Math.round(FRAME_SECONDS * sampleRate);
  const finalizeAt = new Set(options.finalizeAt?.map((seconds) => Math.round(seconds / FRAME_SECONDS)));
  let frames = 0;
  function speak(): void {
    const at = frames * frame;
    if (over) return;
    if (at >= samples) {
      if (options.leaves === true) upstream.close();
      else leg.command({ type: 'leg.finish' });
      return;
    }
    frames++;
    leg.command({ type: 'leg.audio', sequence: frames }, numberedAudio(at, Math.min(samples, at + frame)));
    if (finalizeAt.has(frames)) leg.command({ type: 'leg.finalize' });
    const isPaused = frames === Math.round((options.pause?.afterSeconds ?? 0) / FRAME_SECONDS);
    clock.setTimeout(speak, isPaused ? (options.pause?.ms ?? 0) : FRAME_SECONDS * 1_000);
  }
  await clock.run(LONGEST_MS, () => over);
  // Whatever is still under way comes to its end as well.
  upstream.close();
  await clock.run(2 * LONGEST_MS, () => network.links.size === 0);
  return outcome;
}

/** A frame as a text that can be compared. */
export const shownFrame = (frame: Outgoing): string => {
  if (typeof frame === 'string') return frame;
  return frame instanceof Uint8Array ? Buffer.from(frame).toString('hex') : JSON.stringify(frame);
};

/** Notes every frame that the simulator is sent. */
export function noting(simulator: ProviderSimulator, note: (frame: string | Uint8Array) => void): ProviderSimulator {
  return {
    ...simulator,
    upgrade(request, tools) {
      const upgrade = simulator.upgrade(request, tools);
      if ('refuse' in upgrade) return upgrade;
      const connect: typeof upgrade.connect = (peer) => {
        const connection = upgrade.connect(peer);
        return {
          text(text) {
            note(text);
            connection.text(text);
          },
          bytes(bytes) {
            note(bytes);
            connection.bytes(bytes);
          },
          gone: () => connection.gone(),
        };
      };
      return { ...upgrade, connect };
    },
  };
}
