// The built-in grammars by model.
import { COMMANDS_EN } from './commands-en.ts';
import { COMMANDS_FR } from './commands-fr.ts';
import { DIGITS_EN } from './digits-en.ts';

export const BUILT_IN_GRAMMARS: ReadonlyMap<string, string> = new Map([
  ['commands-en', COMMANDS_EN],
  ['commands-fr', COMMANDS_FR],
  ['digits-en', DIGITS_EN],
]);
