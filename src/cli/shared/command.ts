// What a command is, and how its arguments are read.
import { type ParseArgsConfig, parseArgs } from 'node:util';
import { CommandError, EXIT } from './output.ts';

export interface Command {
  name: string;
  /** One line for the list of commands. */
  summary: string;
  /** What `--help` prints. */
  usage: string;
  /** Resolves with the exit code. */
  run(args: readonly string[]): Promise<number>;
}

type Options = NonNullable<ParseArgsConfig['options']>;

/** Reads arguments strictly: an unknown option ends the command with a sentence and the usage. */
export function readArguments<const Given extends Options>(
  command: Pick<Command, 'usage'>,
  args: readonly string[],
  options: Given,
): ReturnType<typeof parseArgs<{ args: string[]; options: Given; allowPositionals: true; strict: true }>> {
  try {
    return parseArgs({ args: [...args], options, allowPositionals: true, strict: true });
  } catch (error) {
    const why = error instanceof Error ? error.message.split(/\.\s/)[0] : String(error);
    throw new CommandError(`${why}.\n\n${command.usage}`, EXIT.usage);
  }
}
