// The chart and the compose file as Helm, Kubernetes and Compose read them (scripts/ci/manifests).
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { goProgram } from '../../scripts/install/go-programs.js';
import { type Config, loadConfig } from '../../src/index.ts';
import { providers } from '../../src/vendors/index.ts';
import { temporaryDirectory } from '../fakes/temporary-directory.ts';

const program = goProgram('manifests');

/** Whether the program is built. A test that needs it is skipped without it, and fails under CI. */
export const manifestsAreRead = program.isHere;
if (!manifestsAreRead) {
  const reason = 'The chart is not tested: `node scripts/install/go-programs.js manifests`';
  if (process.env.CI === 'true') throw new Error(`${reason}. No test is skipped under CI.`);
  console.warn(reason);
}

/** @throws Error with everything that is wrong, a line each */
export function read<What>(args: readonly string[], env: Record<string, string> = {}): What {
  const { status, stdout, stderr, error } = spawnSync(program.path, args, {
    encoding: 'utf8',
    env: { ...process.env, ...env },
    maxBuffer: 16 * 1024 * 1024,
  });
  if (error !== undefined) throw error;
  if (status !== 0) throw new Error(stderr);
  return JSON.parse(stdout) as What;
}

export interface KubernetesObject {
  kind: string;
  metadata: { name: string; labels: Record<string, string>; annotations?: Record<string, string> };
  /** Kubernetes has checked the types of what is in it. */
  [part: string]: ReturnType<typeof JSON.parse>;
}

export function chartObjects(folder: string, values: object = {}): KubernetesObject[] {
  const file = join(temporaryDirectory(), 'values.json');
  writeFileSync(file, JSON.stringify(values));
  return read(['chart', folder, file]);
}

/**
 * The configuration that a node has with these variables.
 *
 * @throws ConfigError when one is not a setting, or has a value that is refused
 */
export function configOf(env: Readonly<Record<string, string>>): Config {
  // Files are in volumes: none of them is here.
  return loadConfig(env, {
    providers: providers.map(({ name }) => name),
    catalogue: providers,
    readFile: () => 'text',
  });
}
