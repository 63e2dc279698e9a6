// Official clients of other vendors, and the models that they are tried with.
import { type Driver, isTriedWith } from '../../test/dialects/driver.ts';
import { EMBEDDED, FILE_MODELS } from '../../test/dialects/files/models.ts';
import { PROTOCOLS } from '../../test/failover/protocols.ts';
import { drivers } from '../../test/sdk/drivers/index.ts';
import { pythonDrivers } from '../../test/sdk/drivers/python/index.ts';
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

const LIVE_MODELS = [...PROTOCOLS.map(({ slug }) => slug), EMBEDDED];
const [SDKS, PLUGINS] = [
  pythonDrivers.filter(({ models }) => models === undefined),
  pythonDrivers.filter(({ models }) => models !== undefined),
];

export const clientPage = (): string =>
  page('Clients of other vendors, tried', 'test/sdk/drivers', [
    `Each client is the vendor's own, as it is published, and is given the gateway's address and key alone. What is marked here is a test
of the project: the client is run against a gateway, and is told of every sample of its audio exactly once. How clients are pointed
at a gateway is in [Clients of other vendors](../guides/other-clients.md).`,
    '## Clients',
    {
      head: ['', 'client', 'language', 'door', 'live', 'files'],
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
    `One model stands for all of a provider that speak the same protocol; clients have their numbers of above. The embedded recogniser
is tried with speech, whose words have to be told.`,
    tableOf(drivers, LIVE_MODELS, 'live'),
    'The same for Python:',
    tableOf(SDKS, LIVE_MODELS, 'live'),
    'Plugins of agents, with models that each end turns in another way:',
    tableOf(PLUGINS, [...new Set(PLUGINS.flatMap(({ models = [] }) => models))], 'live'),
    'The gateway finds the ends of turns of `cartesia/ink-2`: clients that end turns with silence alone are not tried with it.',
    `Not so: ${unmet.join(' ')}`,
    '## Files, with models of every provider',
    'One model for files stands for all of a provider.',
    tableOf(drivers, [...FILE_MODELS, EMBEDDED], 'file'),
    'The same for Python:',
    tableOf(pythonDrivers, [...FILE_MODELS, EMBEDDED], 'file'),
  ]);
