// What a command is, and how its arguments are read; and commands with actions, `voxgate orgs create NAME`, whose operands and options are
// read as strictly as each action declares them.
import { type ParseArgsConfig, parseArgs } from 'node:util';
import { editDistance } from '../../api/slug.ts';
import { StoreError } from '../../store/store-error.ts';
import { EXIT, UsageError } from './output.ts';

export interface Command {
  /** What `--help` prints. */
  usage: string;
  /** Resolves with the exit code. */
  run(args: readonly string[]): Promise<number>;
}

type Options = NonNullable<ParseArgsConfig['options']>;

interface Accepted extends Pick<Command, 'usage'> {
  /** How many names or files it takes in addition to its options; none when absent. */
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

type ValuesOf<Given extends Options> = ReturnType<typeof readArguments<Given>>['values'];

interface ActionDeclaration<Given extends Options> {
  /** All of them are required, in this order: `['ORG_ID', 'AMOUNT']`. */
  operands: readonly string[];
  options: Given;
  /** Resolves with the exit code; without one it is 0. */
  run(operands: readonly string[], values: ValuesOf<Given>): Promise<number | undefined>;
}

/** One action, without the types of its options. */
export interface Action {
  operands: readonly string[];
  run(usage: string, args: readonly string[]): Promise<number>;
}

/** Ends the command with a sentence, the usage and 64. */
export class WrongInput extends Error {
  override readonly name = 'WrongInput';
}

export function action<const Given extends Options>({ operands, options, run }: ActionDeclaration<Given>): Action {
  return {
    operands,
    async run(usage, args) {
      const { values, positionals } = readArguments(
        { usage, operandsMax: Number.POSITIVE_INFINITY },
        negativesLast(args),
        options,
      );
      if (positionals.length !== operands.length) throw new WrongInput(wanted(operands));
      return (await run(positionals, values)) ?? EXIT.ok;
    },
  };
}

/** A command of such actions. */
export function actionsCommand(usage: string, actions: Readonly<Record<string, Action>>): Command {
  return {
    usage,
    run: ([first = '', ...args]) =>
      explained(usage, async () => {
        const chosen = Object.hasOwn(actions, first) ? actions[first] : undefined;
        if (chosen === undefined) throw new WrongInput(`name one of ${Object.keys(actions).join(', ')}.`);
        return chosen.run(usage, args);
      }),
  };
}

/** Adds the usage to the message of wrong input, also where the store rejects it. */
export async function explained(usage: string, work: () => Promise<number>): Promise<number> {
  try {
    return await work();
  } catch (error) {
    const isWrong = error instanceof WrongInput || (error instanceof StoreError && error.reason === 'invalid');
    throw isWrong ? new UsageError(error.message, usage) : error;
  }
}

function wanted(operands: readonly string[]): string {
  if (operands.length === 0) return 'this takes nothing but options.';
  return `name ${operands.join(' and ')}, and nothing else.`;
}

/** `-5` is an amount and not an option: amounts are moved after the mark that ends the options, since an amount is always last. */
function negativesLast(args: readonly string[]): string[] {
  const isNegative = (text: string) => /^-\.?\d/.test(text);
  const negatives = args.filter(isNegative);
  return negatives.length === 0 ? [...args] : [...args.filter((text) => !isNegative(text)), '--', ...negatives];
}
