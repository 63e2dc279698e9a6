// What tests of official SDKs have in common: the simulator of a provider that hears a script, whatever it is sent; and a file.
import { afterEach } from 'vitest';
import type { ProviderSimulator } from '../../../src/vendors/kit/simulation.ts';
import { scriptEar } from '../../../src/vendors/simulation/ears.ts';
import { simulators } from '../../../src/vendors/simulators.ts';
import { silentWav } from '../../fakes/audio/audio-files.ts';
import { closeAll, serve } from '../../vendors/simulation/client.ts';
import { quickClock } from '../../vendors/simulation/quick-clock.ts';

/** What is heard of two seconds of audio. */
export const TURNS = [
  { text: 'hello and welcome.', seconds: 1 },
  { text: 'good bye', seconds: 1 },
];
export const WHOLE = 'hello and welcome. good bye';

interface ScriptedOptions {
  faults?: string[];
  /** It works at so many times real time. */
  speed?: number;
}

/** Starts simulators that hear the script; each is closed behind the test that it was started in. */
export function scripted(provider: string, turns = TURNS) {
  const simulator = simulators.find((each) => each.provider === provider) as ProviderSimulator;
  afterEach(closeAll);
  return async ({ faults = [], speed = 1 }: ScriptedOptions = {}) => {
    const ear = scriptEar({ turns, interim_seconds: 0.25 });
    const { url, port } = await serve({ simulator, ear, faults, clock: quickClock(speed) });
    return { url, socketUrl: url.replace('http', 'ws'), port };
  };
}

export const wavFile = (content: Uint8Array = silentWav(2)): File =>
  new File([new Uint8Array(content)], 'audio.wav', { type: 'audio/wav' });
