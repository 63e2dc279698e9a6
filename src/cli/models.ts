// `voxgate models`: the catalogue of this build.

import { listModels } from '../edge/routes/models.ts';
import { providers } from '../providers/index.ts';
import { type Command, readArguments } from './command.ts';
import { EXIT, print, printTable } from './output.ts';
import { loadSettings } from './settings.ts';

const usage = `Usage: voxgate models [--json]

Lists the models this gateway can address, with modes, languages and prices.

  --json  print the records of GET /v1/models`;

export const models: Command = {
  name: 'models',
  summary: 'list the models',
  usage,
  async run(args) {
    const { values } = readArguments({ usage }, args, { json: { type: 'boolean' } });
    const { providers: settings } = loadSettings();
    const list = listModels({
      providers: new Map(providers.map((provider) => [provider.name, provider])),
      access: (name) => ({ baseUrl: settings[name]?.url, credential: settings[name]?.apiKey }),
      // Nothing was tried yet.
      statusOf: () => 'up',
    });
    if (values.json) {
      print(JSON.stringify({ object: 'list', data: list }, null, 2));
      return EXIT.ok;
    }
    printTable([
      ['MODEL', 'MODES', 'LANGUAGES', 'USD/MIN LIVE', 'USD/MIN BATCH', 'AVAILABLE'],
      ...list.map(({ id, modes, languages, pricing, available }) => [
        id,
        modes.join(','),
        languages.join(','),
        pricing.live?.amount ?? '-',
        pricing.batch?.amount ?? '-',
        available ? 'yes' : 'no credential',
      ]),
    ]);
    return EXIT.ok;
  },
};
