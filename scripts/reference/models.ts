// The catalogue of models, and their list prices.
import type { Price } from '../../src/api/models.ts';
import { modeText } from '../../src/cli/models.ts';
import { offeredOf, providers } from '../../src/providers/index.ts';
import type { ModelCard, Provider } from '../../src/providers/provider.ts';
import { page } from './page.ts';

/** What a gateway offers unless it is told otherwise. */
export const offered = (): Provider[] => [
  ...offeredOf(new Map(providers.map((provider) => [provider.name, provider])), 'off').values(),
];

/** Prices and availability depend on the operator and the caller: they are told to whoever has a key. */
export const modelPage = (): string =>
  page('Models', 'src/providers/*/models.ts', [
    `The models that this release knows. What they cost at a gateway, and whether you can use them, \`GET /v1/models\` says to whoever has
a key, with the schema of \`provider_params\` for each. A provider's models can be used once the gateway has a key for it.`,
    ...offered().flatMap(({ title, models }) => [
      `## ${title}`,
      {
        head: ['model', 'modes', 'languages', 'can', 'what it is'],
        rows: models.map((card) => [
          `\`${card.id}\``,
          card.modes.map((mode) => modeText(mode, card.live_turns)).join(', '),
          languageText(card),
          abilityText(card),
          card.description,
        ]),
      },
    ]),
    `## Limits of these models

- The embedded recogniser (\`local/…\`) listens for the words of a grammar: commands, digits, names that you list. It takes no open
  dictation. For that, name a provider's model.
- \`loopback/…\`, which is listed nowhere here, recognises nothing: it is for tests, and there only with \`VOXGATE_LOOPBACK=on\`.
- Providers are spoken to as their public documents and official client libraries say. A wire format that changes there is a fault
  here, and worth a report.`,
  ]);

export const pricePage = (): string =>
  page('List prices', 'src/providers/*/models.ts', [
    `In USD, as the providers publish them on the day that the catalogue names. These are not the prices of a gateway: its operator may
replace them and add a margin ([Bills](../guides/bills.md#prices-of-your-own)), and \`GET /v1/models\` tells those in force. What a
provider charges extra for is added where a request asks for it.`,
    {
      head: ['model', 'files', 'live'],
      rows: offered().flatMap(({ models }) =>
        models.map(({ id, pricing }) => [`\`${id}\``, priceText(pricing.batch), priceText(pricing.live)]),
      ),
    },
  ]);

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
