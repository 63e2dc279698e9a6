// The command line: finds the command, runs it, and turns what it throws into one sentence and an exit code.

import { nearestSlugs } from '../api/slug.ts';
import { SecretError } from '../auth/secret.ts';
import { ClusterError } from '../cluster/membership/name-lease.ts';
import { ConfigError } from '../config/load.ts';
import { releaseVersion } from '../documents/version.ts';
import { StoreError } from '../store/store-error.ts';
import { VaultError } from '../vault/vault-error.ts';
import { config } from './config.ts';
import { demo } from './demo/command.ts';
import { keys } from './keys.ts';
import { ledger } from './ledger.ts';
import { models } from './models.ts';
import { nodes } from './nodes.ts';
import { orgs } from './orgs.ts';
import { serve } from './serve/command.ts';
import type { Command } from './shared/command.ts';
import { CommandError, EXIT, print, tell } from './shared/output.ts';
import { simulate } from './simulate.ts';
import { transcribe } from './transcribe.ts';
import { usage } from './usage.ts';
import { vault } from './vault.ts';

export const commands: readonly Command[] = [
  serve,
  demo,
  transcribe,
  orgs,
  keys,
  ledger,
  usage,
  vault,
  models,
  nodes,
  config,
  simulate,
];

/** Runs one command line, without the program's own name. Resolves with the exit code; never rejects. */
export async function runCommand(args: readonly string[]): Promise<number> {
  const [name, ...rest] = args;
  if (name === undefined || name === 'help' || name === '--help' || name === '-h') {
    print(overview());
    return EXIT.ok;
  }
  if (name === '--version' || name === '-v' || name === 'version') {
    print(releaseVersion());
    return EXIT.ok;
  }
  const command = commands.find((each) => each.name === name);
  if (command === undefined) {
    tell(`voxgate: there is no command "${name}"${meant(name)}.\n\n${overview()}`);
    return EXIT.usage;
  }
  if (rest.includes('--help') || rest.includes('-h')) {
    print(command.usage);
    return EXIT.ok;
  }
  try {
    return await command.run(rest);
  } catch (error) {
    return explain(error);
  }
}

function meant(name: string): string {
  const [nearest] = nearestSlugs(
    name,
    commands.map((command) => command.name),
    1,
  );
  return nearest === undefined ? '' : `; the nearest is ${nearest}`;
}

function explain(error: unknown): number {
  const cannotOpen = error instanceof StoreError && error.reason === 'cannot_open';
  const isSettings = [ConfigError, SecretError, VaultError, ClusterError].some((kind) => error instanceof kind);
  if (error instanceof Error && (isSettings || cannotOpen)) {
    tell(`voxgate: ${error.message}`);
    return EXIT.config;
  }
  if (error instanceof CommandError) {
    tell(`voxgate: ${error.message}`);
    return error.exitCode;
  }
  tell(`voxgate: ${error instanceof Error ? error.message : String(error)}`);
  return EXIT.failed;
}

function overview(): string {
  const width = Math.max(...commands.map((command) => command.name.length));
  return [
    'voxgate: the speech-to-text gateway',
    '',
    'Usage: voxgate <command> [options]',
    '',
    ...commands.map((command) => `  ${command.name.padEnd(width)}  ${command.summary}`),
    '',
    'voxgate <command> --help tells more, voxgate -v the version. Settings are environment variables: voxgate config docs lists them.',
  ].join('\n');
}
