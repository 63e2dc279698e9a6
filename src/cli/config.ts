// `voxgate config check|print|docs`: the configuration, before it is used.
import { configReference, printConfig } from '../config/reference.ts';
import { type Command, readArguments } from './shared/command.ts';
import { EXIT, print, tell, UsageError } from './shared/output.ts';
import { loadSettings } from './shared/settings.ts';

const usage = `Usage: voxgate config <check|print|docs>

  check  checks the configuration; exit code 78 and a sentence for each fault
  print  prints the values in force, without secrets
  docs   prints the table of all settings, as Markdown`;

export const config: Command = {
  usage,
  async run(args) {
    const { positionals } = readArguments({ usage, operandsMax: 1 }, args, {});
    const [action] = positionals;
    if (action === 'check') {
      loadSettings(process.env, tell);
      print('The configuration can be used.');
    } else if (action === 'print') print(printConfig(loadSettings()));
    else if (action === 'docs') print(configReference());
    else throw new UsageError('name one of check, print and docs.', usage);
    return EXIT.ok;
  },
};
