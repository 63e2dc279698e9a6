// `voxgate models`: the catalogue of this build.
import type { Mode, Model, Price } from '../api/models.ts';
import { listModels } from '../edge/routes/models.ts';
import { providers } from '../providers/index.ts';
import { type Command, readArguments } from './shared/command.ts';
import { EXIT, print, printTable } from './shared/output.ts';
import { loadPrices, loadSettings } from './shared/settings.ts';

const usage = `Usage: voxgate models [--json]

Lists the models this gateway can address, with modes, languages and the prices in force here.

  --json  print the records of GET /v1/models`;

export const models: Command = {
  name: 'models',
  summary: 'list the models',
  usage,
  async run(args) {
    const { values } = readArguments({ usage }, args, { json: { type: 'boolean' } });
    const config = loadSettings();
    const settings = config.providers;
    const list = listModels({
      providers: new Map(providers.map((provider) => [provider.name, provider])),
      access: (name) => ({ baseUrl: settings[name]?.url, credential: settings[name]?.apiKey }),
      prices: loadPrices(config),
      // Nothing was tried yet.
      statusOf: () => 'up',
    });
    if (values.json) {
      print(JSON.stringify({ object: 'list', data: list }, null, 2));
      return EXIT.ok;
    }
    printTable([
      ['MODEL', 'MODES', 'LANGUAGES', 'LIVE, USD', 'BATCH, USD', 'AVAILABLE'],
      ...list.map(({ id, modes, live_turns, languages, pricing, available }) => [
        id,
        modes.map((mode) => modeText(mode, live_turns)).join(', ') || '-',
        languages.join(','),
        priceText(pricing.live),
        priceText(pricing.batch),
        available ? 'yes' : modes.length === 0 ? 'no price' : 'no credential',
      ]),
    ]);
    return EXIT.ok;
  },
};

/** Shared with docs/reference/models.md. */
export const modeText = (mode: Mode, liveTurns: Model['live_turns']): string =>
  mode === 'live' && liveTurns === 'gateway' ? 'live by utterance' : mode;

function priceText(price: Price | undefined): string {
  if (price === undefined) return '-';
  if (price.free) return 'free';
  const atLeast = price.minimum === undefined ? '' : `, at least ${price.minimum}`;
  const what = price.metered === undefined ? price.unit : `${price.unit} of connection`;
  return `${price.amount} a ${what}${atLeast}`;
}
