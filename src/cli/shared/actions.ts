// Commands with actions, `voxgate orgs create NAME`: finds the action, and reads its operands and options as strictly as it
// declares them. What an action does is in the command's own file.
import type { ParseArgsConfig } from 'node:util';
import { StoreError } from '../../store/store-error.ts';
import { type Command, readArguments } from './command.ts';
import { EXIT, UsageError } from './output.ts';

type Options = NonNullable<ParseArgsConfig['options']>;
type ValuesOf<Given extends Options> = ReturnType<typeof readArguments<Given>>['values'];

interface ActionDeclaration<Given extends Options> {
  /** What must be named, in this order: `['ORG_ID', 'AMOUNT']`. */
  operands: readonly string[];
  options: Given;
  /** Resolves with the exit code; without one it is 0. */
  run(operands: readonly string[], values: ValuesOf<Given>): Promise<number | undefined>;
}

/** One action, its options' types forgotten. */
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

/** Adds the usage to what is said of wrong input, the store's refusals of it included. */
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

/** `-5` is an amount and no option: such are put behind the mark that ends the options, where an amount always is the last. */
function negativesLast(args: readonly string[]): string[] {
  const isNegative = (text: string) => /^-\.?\d/.test(text);
  const negatives = args.filter(isNegative);
  return negatives.length === 0 ? [...args] : [...args.filter((text) => !isNegative(text)), '--', ...negatives];
}
