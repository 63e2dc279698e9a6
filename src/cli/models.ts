// `voxgate models`: the catalogue of this build.
import { ApiError } from '../api/errors.ts';
import type { Mode, Model, Price } from '../api/models.ts';
import { isNamedRegion } from '../api/residency-rule.ts';
import { ownerOf } from '../api/slug.ts';
import { serviceAccess } from '../node/context.ts';
import { listModels, readModelsFilter } from '../node/routes/models.ts';
import { offeredOf } from '../vendors/index.ts';
import { checkModel } from './models-check.ts';
import { type Command, readArguments } from './shared/command.ts';
import { CommandError, EXIT, print, printTable, UsageError } from './shared/output.ts';
import { loadPrices, loadProviders, loadSettings } from './shared/settings.ts';
import { didYouMean } from './shared/values.ts';

const usage = `Usage: voxgate models [--mode live|batch] [--language fr] [--provider NAME]
                      [--max-price USD] [--region eu] [--retention none]
                      [--filter WORD]… [--json]
       voxgate models check FOLDER [--file recording.wav] [--json]

Lists the models of this gateway with modes, languages, prices and where audio
is processed: short on a terminal, in full in a pipe or a file.

  --mode       models with that mode
  --language   models that know it: a BCP-47 tag
  --provider   models of one provider
  --max-price  models that cost no more a minute, in the mode or in any mode
  --region, --retention
               models that a request with that rule may use, with the
               credentials that are configured here
  --filter     models with the word in their name, or of that mode or language;
               or the word available
  --json       prints the records of GET /v1/models

check opens a speech model of your own, as docs/guides/local-models.md describes
its folder, and transcribes a sample with it, as a file and live. Prints the
text, the time to load it, its memory and its real-time factor. Exit code 1 and
one sentence if it cannot be used.

  --file  a recording in the model's language; an English sample when absent
  --json  prints one JSON object`;

const NAMED = ['mode', 'language', 'provider', 'max-price', 'region', 'retention'] as const;

export const models: Command = {
  usage,
  async run(args) {
    if (args[0] === 'check') return checkModel(usage, args.slice(1));
    const { values } = readArguments({ usage }, args, {
      json: { type: 'boolean' },
      filter: { type: 'string', multiple: true },
      mode: { type: 'string' },
      language: { type: 'string' },
      provider: { type: 'string' },
      'max-price': { type: 'string' },
      region: { type: 'string' },
      retention: { type: 'string' },
    });
    const config = loadSettings();
    const providers = loadProviders(config);
    const owners = [...new Set([...providers.values()].flatMap(({ models }) => models.map(({ id }) => ownerOf(id))))];
    if (values.provider !== undefined && !owners.includes(values.provider)) {
      const hint = didYouMean(values.provider, owners);
      throw new UsageError(`There is no provider "${values.provider}".${hint} There are: ${owners.join(', ')}.`, usage);
    }
    const given = NAMED.flatMap((name) => (values[name] === undefined ? [] : [[name, values[name]] as const]));
    const all = listModels(
      {
        providers: offeredOf(providers, config.upstream.loopback),
        access: serviceAccess({ config, providers }),
        prices: loadPrices(config),
        // Nothing was tried yet.
        statusOf: () => 'up',
      },
      new Map(),
      filterOf(given),
    );
    const words = values.filter ?? [];
    const list = all.filter((model) => words.every((word) => isMeant(model, word)));
    if (list.length === 0) {
      const asked = [...given.map(([name, value]) => `--${name} ${value}`), ...words].join(' and ');
      throw new CommandError(`no model is ${asked}; voxgate models lists all of them.`);
    }
    if (values.json) {
      print(JSON.stringify({ object: 'list', data: list }, null, 2));
      return EXIT.ok;
    }
    if (process.stdout.isTTY) {
      printTable(shortRows(list, process.stdout.columns));
      print(LEGEND);
    } else printTable(fullRows(list));
    return EXIT.ok;
  },
};

/** Read like the query of `GET /v1/models`, and refused in its words. */
function filterOf(given: readonly (readonly [string, string])[]) {
  try {
    return readModelsFilter(new Map(given.map(([name, value]) => [name.replace('-', '_'), value])));
  } catch (error) {
    if (error instanceof ApiError) throw new UsageError(error.message, usage);
    throw error;
  }
}

/** Whether a word of a filter is said of a model. */
function isMeant({ id, modes, languages, available }: Model, word: string): boolean {
  const wanted = word.toLowerCase();
  if (wanted === 'available') return available;
  return id.toLowerCase().includes(wanted) || [...modes, ...languages].some((each) => each.toLowerCase() === wanted);
}

const LEGEND = `
Prices in USD a minute. c: of connection, silence included; u: live by
utterance; each: for a session. REGIONS, from 100 columns on: with * something
is kept in all of them. voxgate models | cat lists modes and languages in full;
--language fr, --mode live, --region eu and others list fewer models.`;

/** A terminal of so many characters has room for the regions. */
const REGIONS_COLUMNS_MIN = 100;

/** Lines of at most 80 characters, or of 100 where the terminal is as wide. */
export function shortRows(list: readonly Model[], columns = REGIONS_COLUMNS_MIN): string[][] {
  const regions = (text: string) => (columns < REGIONS_COLUMNS_MIN ? [] : [text]);
  return [
    ['MODEL', 'LANGUAGE', 'LIVE', 'BATCH', ...regions('REGIONS'), 'KEY'],
    ...list.map(({ id, live_turns, languages, pricing, processing, available }) => [
      id,
      languages.length > 1 ? `${languages[0]} +${languages.length - 1}` : (languages[0] ?? ''),
      `${shortPrice(pricing.live)}${pricing.live !== undefined && live_turns === 'gateway' ? ' u' : ''}`,
      shortPrice(pricing.batch),
      ...regions(regionsOf(processing)),
      available ? 'yes' : 'no',
    ]),
  ];
}

const REGIONS_SHOWN_MAX = 3;

/** Regions that are promised, or what is said where none is. */
function regionsOf(processing: Model['processing']): string {
  const regions = [...new Set(processing.map(({ region }) => region))];
  const named = regions.filter(isNamedRegion);
  const isKept = processing.every(({ retention }) => retention !== 'none');
  const told = named.length === 0 ? regions : named;
  const more = told.length > REGIONS_SHOWN_MAX ? ` +${told.length - REGIONS_SHOWN_MAX}` : '';
  return `${told.slice(0, REGIONS_SHOWN_MAX).join(',')}${more}${isKept ? '*' : ''}`;
}

function shortPrice(price: Price | undefined): string {
  if (price === undefined) return '-';
  if (price.free) return 'free';
  return `${price.amount}${price.unit === 'session' ? ' each' : price.metered === undefined ? '' : ' c'}`;
}

const fullRows = (list: readonly Model[]): string[][] => [
  ['MODEL', 'MODES', 'LANGUAGES', 'LIVE, USD', 'BATCH, USD', 'REGIONS', 'AVAILABLE'],
  ...list.map(({ id, modes, live_turns, languages, pricing, processing, available }) => [
    id,
    modes.map((mode) => modeText(mode, live_turns)).join(', ') || '-',
    languages.join(','),
    priceText(pricing.live),
    priceText(pricing.batch),
    regionsOf(processing),
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
