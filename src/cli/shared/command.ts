// What a command is, and how its arguments are read.
import { type ParseArgsConfig, parseArgs } from 'node:util';
import { editDistance } from '../../api/slug.ts';
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
    throw new UsageError(sentenceOf(error as Error & { code?: string }, options), usage);
  }
}

function sentenceOf({ code, message }: Error & { code?: string }, options: Options): string {
  const [option = ''] = /--?[^\s'<,]+/.exec(message) ?? [];
  if (code === 'ERR_PARSE_ARGS_UNKNOWN_OPTION') {
    const nearest = Object.keys(options).find((name) => editDistance(name, option.replace(/^--?/, '')) <= 2);
    return `there is no option ${option}${nearest === undefined ? '' : `; the nearest is --${nearest}`}.`;
  }
  // A value that begins with a dash looks like an option.
  if (/ambiguous/.test(message)) return `${option} needs a value; one that begins with a dash is written ${option}=-1.`;
  if (/argument missing/.test(message)) return `${option} needs a value.`;
  return `${message.split(/\.\s/)[0]}.`;
}
