// Official clients of other vendors, and the models that they are tried with.

import { PROTOCOLS } from '../../test/live/failover/protocols.ts';
import { drivers } from '../../test/sdk/drivers/index.ts';
import { pythonDrivers } from '../../test/sdk/drivers/python/index.ts';
import { type Driver, isTriedWith } from '../../test/vendors/compat/driver.ts';
import { EMBEDDED, FILE_MODELS } from '../../test/vendors/compat/files/models.ts';
import { page } from './page.ts';

const all = [...drivers, ...pythonDrivers];
const numberOf = (driver: Driver) => String(all.indexOf(driver) + 1);

const tableOf = (clients: readonly Driver[], slugs: readonly string[], does: 'live' | 'file') => {
  const those = clients.filter((driver) => driver[does] !== undefined);
  return {
    head: ['model', ...those.map(numberOf)],
    rows: slugs.map((slug) => [
      `\`${slug}\``,
      ...those.map((driver) =>
        does === 'file' || isTriedWith(driver, slug) ? 'yes' : driver.unmet?.[slug] === undefined ? '' : 'no',
      ),
    ]),
  };
};

const unmet = all.flatMap(({ client, unmet = {} }) =>
  Object.entries(unmet).map(([slug, why]) => `${client} with \`${slug}\`: ${why}.`),
);

const mark = (is: boolean): string => (is ? 'yes' : '');

const EMBEDDED_MODELS = EMBEDDED.map(({ slug }) => slug);
const LIVE_MODELS = [...PROTOCOLS.map(({ slug }) => slug), ...EMBEDDED_MODELS];
const [SDKS, PLUGINS] = [
  pythonDrivers.filter(({ models }) => models === undefined),
  pythonDrivers.filter(({ models }) => models !== undefined),
];

export const clientPage = (): string =>
  page('Clients of other vendors, tried', 'test/sdk/drivers', [
    `Each client is the vendor's published client, configured only with the gateway's address and key. Each mark is a test of the project:
the client runs against a gateway and receives every sample of its audio exactly once. [Clients of other
vendors](../guides/other-clients.md) explains how to configure them.`,
    '## Clients',
    {
      head: ['', 'client', 'language', 'endpoint', 'live', 'files'],
      rows: all.map((driver) => [
        numberOf(driver),
        driver.client,
        pythonDrivers.includes(driver) ? 'Python' : 'JavaScript',
        `\`/compat/${driver.dialect}\``,
        mark(driver.live !== undefined),
        mark(driver.file !== undefined),
      ]),
    },
    '## Live, with models of every provider',
    `One model represents all models of a provider with the same protocol. The numbers of the clients are those of the table above. The
embedded recogniser is tested with speech, and has to return its words: all of them with commands, nine of ten with dictation.`,
    tableOf(drivers, LIVE_MODELS, 'live'),
    'The same for Python:',
    tableOf(SDKS, LIVE_MODELS, 'live'),
    'Plugins of agents, with models that end turns in different ways:',
    tableOf(PLUGINS, [...new Set(PLUGINS.flatMap(({ models = [] }) => models))], 'live'),
    'The gateway detects the ends of turns for `cartesia/ink-2`. Clients that only end turns with silence are not tested with it.',
    `Exceptions: ${unmet.join(' ')}`,
    '## Files, with models of every provider',
    'One model for files represents all models of a provider.',
    tableOf(drivers, [...FILE_MODELS, ...EMBEDDED_MODELS], 'file'),
    'The same for Python:',
    tableOf(pythonDrivers, [...FILE_MODELS, ...EMBEDDED_MODELS], 'file'),
  ]);
