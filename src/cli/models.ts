// `voxgate models`: the catalogue of this build.

import type { Mode, Model, Price } from '../api/models.ts';
import { serviceAccess } from '../assembly/context.ts';
import { listModels } from '../edge/routes/models.ts';
import { offeredOf } from '../providers/index.ts';
import { type Command, readArguments } from './shared/command.ts';
import { CommandError, EXIT, print, printTable } from './shared/output.ts';
import { loadPrices, loadProviders, loadSettings } from './shared/settings.ts';

const usage = `Usage: voxgate models [--filter WORD]… [--json]

Lists the models this gateway can address, with modes, languages and the prices in force here: on a terminal shortly, in a
pipe or a file in full.

  --filter  only those with the word in their name, or of that mode (live, batch), that language (fr), or available
  --json    print the records of GET /v1/models`;

export const models: Command = {
  usage,
  async run(args) {
    const { values } = readArguments({ usage }, args, {
      json: { type: 'boolean' },
      filter: { type: 'string', multiple: true },
    });
    const config = loadSettings();
    const providers = loadProviders(config);
    const all = listModels({
      providers: offeredOf(providers, config.upstream.loopback),
      access: serviceAccess({ config, providers }),
      prices: loadPrices(config),
      // Nothing was tried yet.
      statusOf: () => 'up',
    });
    const words = values.filter ?? [];
    const list = all.filter((model) => words.every((word) => isMeant(model, word)));
    if (list.length === 0)
      throw new CommandError(`no model is ${words.join(' and ')}; voxgate models lists all of them.`);
    if (values.json) {
      print(JSON.stringify({ object: 'list', data: list }, null, 2));
      return EXIT.ok;
    }
    if (process.stdout.isTTY) {
      printTable(shortRows(list));
      print(LEGEND);
    } else printTable(fullRows(list));
    return EXIT.ok;
  },
};

/** Whether a word of a filter is said of a model. */
function isMeant({ id, modes, languages, available }: Model, word: string): boolean {
  const wanted = word.toLowerCase();
  if (wanted === 'available') return available;
  return id.toLowerCase().includes(wanted) || [...modes, ...languages].some((each) => each.toLowerCase() === wanted);
}

const LEGEND = `
Prices in USD a minute. c: of connection, silence included; u: live by
utterance; each: for a session.
voxgate models | cat lists modes and languages in full; --filter WORD finds
some of them.`;

/** Lines of 80 characters. */
export const shortRows = (list: readonly Model[]): string[][] => [
  ['MODEL', 'LANGUAGES', 'LIVE', 'BATCH', 'KEY'],
  ...list.map(({ id, live_turns, languages, pricing, available }) => [
    id,
    languages.length > 1 ? `${languages[0]} +${languages.length - 1}` : (languages[0] ?? ''),
    `${shortPrice(pricing.live)}${pricing.live !== undefined && live_turns === 'gateway' ? ' u' : ''}`,
    shortPrice(pricing.batch),
    available ? 'yes' : 'no',
  ]),
];

function shortPrice(price: Price | undefined): string {
  if (price === undefined) return '-';
  if (price.free) return 'free';
  return `${price.amount}${price.unit === 'session' ? ' each' : price.metered === undefined ? '' : ' c'}`;
}

const fullRows = (list: readonly Model[]): string[][] => [
  ['MODEL', 'MODES', 'LANGUAGES', 'LIVE, USD', 'BATCH, USD', 'AVAILABLE'],
  ...list.map(({ id, modes, live_turns, languages, pricing, available }) => [
    id,
    modes.map((mode) => modeText(mode, live_turns)).join(', ') || '-',
    languages.join(','),
    priceText(pricing.live),
    priceText(pricing.batch),
    available ? 'yes' : modes.length === 0 ? 'no price' : 'not set up',
  ]),
];

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
