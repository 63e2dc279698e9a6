// A session and a file of Riva over a real connection, to the simulated server.
import { afterAll, expect, it } from 'vitest';
import type { OpenLeg } from '../../../machines/events.ts';
import { transcribeThroughLeg } from '../../../src/files/through-leg.ts';
import { systemClock } from '../../../src/runtime/telemetry/clock.ts';
import { nvidia } from '../../../src/vendors/nvidia/index.ts';
import { simulator } from '../../../src/vendors/nvidia/simulator/index.ts';
import { scriptEar } from '../../../src/vendors/simulation/ears.ts';
import { SimulatorServer } from '../../../src/vendors/simulation/server.ts';
import { numberedAudio } from '../../fakes/audio/numbered-audio.ts';
import { SessionRig } from '../../fakes/session-rig.ts';

const TURNS = ['hello and welcome', 'good bye'].map((text) => ({ text, seconds: 60 }));
const servers: SimulatorServer[] = [];
afterAll(() => Promise.all(servers.map((server) => server.close())));

async function rigOf(): Promise<SessionRig> {
  const server = await SimulatorServer.start({ simulator, ear: scriptEar({ turns: TURNS, interim_seconds: 30 }) });
  servers.push(server);
  const access = () => ({ baseUrl: server.url, credential: undefined });
  return new SessionRig({ clock: systemClock, providers: [nvidia], access });
}

async function* minutes(count: number): AsyncGenerator<Uint8Array> {
  for (let second = 0; second < count * 60; second++) yield numberedAudio(second * 16_000, (second + 1) * 16_000);
}

it('sends two minutes of a file through a call at full speed, without loss', async () => {
  const rig = await rigOf();
  const request: OpenLeg = {
    ...{ type: 'leg.open', session: '', sessionId: 'ses_1', generation: 0, slug: 'nvidia/parakeet-ctc-1.1b' },
    ...{ sampleRate: 16_000, language: null, interimResults: false, diarization: false, params: {} },
    ...{ credentialId: 'service', organisationId: 'org_1' },
  };
  const { signal } = new AbortController();
  const { utterances } = await transcribeThroughLeg(rig.upstream, 'file', request, minutes(2), signal);
  expect(utterances.map(({ text, start, end }) => [text, start, end])).toEqual([
    ['hello and welcome', 0, 60],
    ['good bye', 60, 120],
  ]);
  expect([rig.upstream.size, rig.faults]).toEqual([0, []]);
});
