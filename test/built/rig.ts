// The program as users run it: the gateway and the simulators are processes of the bundle, in the checkout or as an installed package.
import type { ChildProcess } from 'node:child_process';
import { createInterface } from 'node:readline';
import { afterAll } from 'vitest';
import { LINKED_PACKAGES, packedProgram } from '../deploy/installed-program.ts';
import { Serving } from '../fakes/processes/serving.ts';
import { PROGRAM, startVoxgate } from '../fakes/processes/voxgate.ts';
import { PROVIDERS } from '../live/failover/protocols.ts';

export const CREDENTIAL = 'credential-of-the-gateway';
export const PROVIDER_NAMES: readonly string[] = PROVIDERS.map(({ name }) => name);

export interface Program {
  path: string;
  env: Record<string, string>;
}

export const CHECKOUT: Program = { path: PROGRAM, env: {} };

/** Packs the checkout and installs the package. */
export const installPackage = (): Program => ({ path: packedProgram(), env: LINKED_PACKAGES });

const simulating: ChildProcess[] = [];
// Registered on import: a hook that a hook registers is never run.
afterAll(() => {
  for (const child of simulating.splice(0)) child.kill('SIGKILL');
});

/** Runs `voxgate simulate` for a provider, and resolves with the address that it prints. */
export async function simulate(provider: string): Promise<string> {
  const child = startVoxgate(['simulate', provider, ...['--ear', 'numbered', '--params', '{"turn_seconds":0.7}']]);
  simulating.push(child);
  let errors = '';
  child.stderr.on('data', (chunk) => {
    errors += chunk;
  });
  for await (const line of createInterface({ input: child.stdout })) {
    const [url] = /http:\/\/\S+/.exec(line) ?? [];
    if (url !== undefined) return url;
  }
  throw new Error(`The simulator of ${provider} ended: ${errors}`);
}

/** The settings of a gateway that reaches each provider at its simulator. */
export async function simulatedProviders(names: readonly string[]): Promise<Record<string, string>> {
  const settings = names.map(async (name) => [
    [`VOXGATE_${name.toUpperCase()}_URL`, await simulate(name)],
    [`${name.toUpperCase()}_API_KEY`, CREDENTIAL],
  ]);
  return Object.fromEntries((await Promise.all(settings)).flat());
}

/** Starts the gateway of a program. */
export const serve = ({ path, env }: Program, settings: Record<string, string> = {}): Promise<Serving> =>
  Serving.start({ program: path, env: { ...env, ...settings } });
