// The catalogue of models, and their list prices.
import type { Price } from '../../src/api/models.ts';
import { modeText } from '../../src/cli/models.ts';
import { offeredOf, providers } from '../../src/vendors/index.ts';
import type { ModelCard, Provider } from '../../src/vendors/kit/provider.ts';
import { page } from './page.ts';

/** What a gateway offers unless it is told otherwise. */
export const offered = (): Provider[] => [
  ...offeredOf(new Map(providers.map((provider) => [provider.name, provider])), 'off').values(),
];

/** Prices and availability depend on the operator and the caller: they are told to whoever has a key. */
export const modelPage = (): string =>
  page('Models', 'src/vendors/*/models.ts', [
    `The models of this release. With a key, \`GET /v1/models\` returns their prices at your gateway, whether you can use them, and the schema
of \`provider_params\` for each. A provider's models can be used once the gateway has a key for the provider.`,
    ...offered().flatMap(({ title, models }) => [
      `## ${title}`,
      {
        head: ['model', 'modes', 'languages', 'can', 'description'],
        rows: models.map((card) => [
          `\`${card.id}\``,
          card.modes.map((mode) => modeText(mode, card.live_turns)).join(', '),
          languageText(card),
          abilityText(card),
          card.description,
        ]),
      },
    ]),
    `## Limits of files

The largest and longest file that a provider takes in one request. The gateway cuts a file that exceeds these limits into parts
([Long files](../guides/long-files.md)). Models that are not listed have no limit except the gateway's own (\`VOXGATE_FILE_BYTES_MAX\`).`,
    { head: ['models', 'largest file', 'longest audio'], rows: offered().flatMap(({ models }) => limitRows(models)) },
    `## Limits of these models

- \`local/dictation-en\` understands English only. Its words have estimated times and no confidence. The other models of the embedded
  recogniser (\`local/…\`) are grammar-based: commands, digits, names you list ([guide](../guides/local-recogniser.md)).
- \`loopback/…\`, which is not listed here, recognises nothing. It is for tests, and only available with \`VOXGATE_LOOPBACK=on\`.
- Adapters follow each provider's public docs and SDKs. If a provider changes its wire format, please open an issue.`,
  ]);

export const pricePage = (): string =>
  page('List prices', 'src/vendors/*/models.ts', [
    `In USD, as published by the providers on the date in the catalogue. The operator of a gateway may replace them and add a margin
([Bills](../guides/bills.md#prices-of-your-own)). \`GET /v1/models\` returns the prices in force. Add-ons apply to requests that use the
option.`,
    {
      head: ['model', 'files', 'live'],
      rows: offered().flatMap(({ models }) =>
        models.map(({ id, pricing }) => [`\`${id}\``, priceText(pricing.batch), priceText(pricing.live)]),
      ),
    },
  ]);

/** A row for each pair of limits that models of a provider have. */
function limitRows(models: readonly ModelCard[]): string[][] {
  const files = models.filter(({ modes }) => modes.includes('batch'));
  const limited = files.filter(({ audio }) => audio.max_file_bytes !== null || audio.max_seconds !== null);
  const limitsOf = ({ audio }: ModelCard): string => `${audio.max_file_bytes} ${audio.max_seconds}`;
  return [...new Set(limited.map(limitsOf))].map((limits) => {
    const own = limited.filter((card) => limitsOf(card) === limits);
    const { id, audio } = own[0] as ModelCard;
    const [provider] = id.split('/');
    const names = own.length === files.length ? [`\`${provider}/…\``] : own.map((card) => `\`${card.id}\``);
    return [names.join(', '), megabytesOf(audio.max_file_bytes), minutesOf(audio.max_seconds)];
  });
}

const megabytesOf = (bytes: number | null): string => (bytes === null ? '–' : `${Math.round(bytes / 100_000) / 10} MB`);
const minutesOf = (seconds: number | null): string => (seconds === null ? '–' : `${Math.round(seconds / 6) / 10} min`);

/** Long lists are for `GET /v1/models`. */
function languageText({ languages }: ModelCard): string {
  if (languages.includes('*')) return 'many';
  return languages.length > 10 ? `${languages.length} languages` : languages.join(', ');
}

const abilityText = ({ capabilities }: ModelCard): string =>
  Object.entries(capabilities)
    .filter(([, can]) => can)
    .map(([name]) => name.replaceAll('_', ' '))
    .join(', ');

function priceText(price: Price | undefined): string {
  if (price === undefined) return '–';
  if (price.free) return 'free';
  const more = (price.add_ons ?? []).map(({ name, amount }) => `; ${name.toLowerCase()} +${amount}`);
  return `${price.amount} a ${price.unit}${price.metered === undefined ? '' : ' of connection'}${more.join('')}`;
}
