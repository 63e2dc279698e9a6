// What a command is, and how its arguments are read.
import { type ParseArgsConfig, parseArgs } from 'node:util';
import { UsageError } from './output.ts';

export interface Command {
  /** What `--help` prints. */
  usage: string;
  /** Resolves with the exit code. */
  run(args: readonly string[]): Promise<number>;
}

type Options = NonNullable<ParseArgsConfig['options']>;

/** What is read strictly: how the command is used, and how many names or files it takes beside its options; none when absent. */
interface Accepted extends Pick<Command, 'usage'> {
  operandsMax?: number;
}

/** Reads arguments strictly: an unknown option or a name too many ends the command with a sentence and the usage. */
export function readArguments<const Given extends Options>(
  { usage, operandsMax = 0 }: Accepted,
  args: readonly string[],
  options: Given,
): ReturnType<typeof parseArgs<{ args: string[]; options: Given; allowPositionals: true; strict: true }>> {
  const parsed = parse(args, options, usage);
  const tooMany = parsed.positionals[operandsMax];
  if (tooMany !== undefined) throw new UsageError(`"${tooMany}" is too much.`, usage);
  return parsed;
}

function parse<const Given extends Options>(args: readonly string[], options: Given, usage: string) {
  try {
    return parseArgs({ args: [...args], options, allowPositionals: true, strict: true });
  } catch (error) {
    const why = error instanceof Error ? error.message.split(/\.\s/)[0] : String(error);
    throw new UsageError(`${why}.`, usage);
  }
}
