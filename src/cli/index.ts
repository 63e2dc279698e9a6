// The command line: finds the command, runs it, and turns what it throws into one sentence and an exit code.
import { SecretError } from '../accounts/auth/secret.ts';
import { VaultError } from '../accounts/vault/key-ring.ts';
import { nearestSlugs } from '../api/slug.ts';
import { ClusterError } from '../cluster/membership/name-lease.ts';
import { ConfigError } from '../config/config-error.ts';
import { releaseVersion } from '../runtime/version.ts';
import { StoreError } from '../store/store-error.ts';
import type { Command } from './shared/command.ts';
import { CommandError, EXIT, print, tell } from './shared/output.ts';

interface NamedCommand {
  name: string;
  /** One line for the list of commands. */
  summary: string;
  /** A command that looks at the database is not kept waiting for what the gateway is made of. */
  load(): Promise<Command>;
}

export const commands: readonly NamedCommand[] = [
  { name: 'serve', summary: 'run the gateway', load: async () => (await import('./serve/command.ts')).serve },
  {
    name: 'demo',
    summary: 'watch a failover in the middle of a sentence',
    load: async () => (await import('./demo/command.ts')).demo,
  },
  {
    name: 'transcribe',
    summary: 'transcribe a file, at once or live',
    load: async () => (await import('./transcribe/command.ts')).transcribe,
  },
  {
    name: 'accuracy',
    summary: 'measure how often models are wrong, on your own recordings',
    load: async () => (await import('./accuracy/command.ts')).accuracy,
  },
  {
    name: 'orgs',
    summary: 'create, list, credit, limit or suspend organisations; members',
    load: async () => (await import('./orgs.ts')).orgs,
  },
  {
    name: 'keys',
    summary: 'create, list, change, roll or revoke API keys',
    load: async () => (await import('./keys.ts')).keys,
  },
  {
    name: 'ledger',
    summary: 'audit, export, back up, restore or accept the ledger',
    load: async () => (await import('./ledger.ts')).ledger,
  },
  {
    name: 'backup',
    summary: 'list backups, make one, or restore one',
    load: async () => (await import('./backup.ts')).backup,
  },
  {
    name: 'usage',
    summary: 'show what an organisation used, and what it cost',
    load: async () => (await import('./usage.ts')).usage,
  },
  {
    name: 'reconcile',
    summary: "compare a provider's bill with what it was sent",
    load: async () => (await import('./reconcile/command.ts')).reconcile,
  },
  {
    name: 'vault',
    summary: "store customers' provider keys, and change the key that seals them",
    load: async () => (await import('./vault.ts')).vault,
  },
  { name: 'models', summary: 'list the models', load: async () => (await import('./models.ts')).models },
  {
    name: 'nodes',
    summary: 'list the nodes of a gateway that runs on several',
    load: async () => (await import('./nodes.ts')).nodes,
  },
  {
    name: 'accounts',
    summary: 'list, compare and hand over the nodes that keep the accounts',
    load: async () => (await import('./accounts.ts')).accounts,
  },
  {
    name: 'config',
    summary: 'check, print or explain the configuration',
    load: async () => (await import('./config.ts')).config,
  },
  {
    name: 'simulate',
    summary: 'run a simulated provider, with faults on demand',
    load: async () => (await import('./simulate.ts')).simulate,
  },
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
  const named = commands.find((each) => each.name === name);
  if (named === undefined) {
    tell(`voxgate: there is no command "${name}"${meant(name)}.\n\n${overview()}`);
    return EXIT.usage;
  }
  const command = await named.load();
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
    return error instanceof ClusterError && error.isPassing ? EXIT.temporary : EXIT.config;
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
    'voxgate <command> --help shows the options of a command, voxgate -v the version.',
    'Settings are environment variables: voxgate config docs lists them.',
  ].join('\n');
}
