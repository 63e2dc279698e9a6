// The built-in grammars by model.
import { COMMANDS_EN } from './commands-en.ts';
import { DIGITS_EN } from './digits-en.ts';

export const BUILT_IN_GRAMMARS: Readonly<Record<string, string>> = {
  'commands-en': COMMANDS_EN,
  'digits-en': DIGITS_EN,
};
