// Official clients of other vendors, and the models that they are tried with.
import { drivers } from '../../test/dialects/drivers/index.ts';
import { EMBEDDED, FILE_MODELS } from '../../test/dialects/files/models.ts';
import { PROTOCOLS } from '../../test/failover/protocols.ts';
import { page } from './page.ts';

/** Of the clients that do so, as the first table has them. */
const those = (does: 'live' | 'file') => drivers.filter((driver) => driver[does] !== undefined);

const tableOf = (slugs: readonly string[], does: 'live' | 'file') => ({
  head: ['model', ...those(does).map((driver) => String(drivers.indexOf(driver) + 1))],
  rows: slugs.map((slug) => [
    `\`${slug}\``,
    ...those(does).map(({ unmet }) => (does === 'live' && unmet?.[slug] !== undefined ? 'no' : 'yes')),
  ]),
});

const unmet = drivers.flatMap(({ client, unmet = {} }) =>
  Object.entries(unmet).map(([slug, why]) => `${client} with \`${slug}\`: ${why}.`),
);

const mark = (is: boolean): string => (is ? 'yes' : '');

export const clientPage = (): string =>
  page('Clients of other vendors, tried', 'test/dialects/drivers', [
    `Each client is the vendor's own, as it is published, and is given the gateway's address and key alone. What is marked here is a test
of the project: the client is run against a gateway, and is told of every sample of its audio exactly once. How clients are pointed
at a gateway is in [Clients of other vendors](../other-clients.md).`,
    '## Clients',
    {
      head: ['', 'client', 'door', 'live', 'files'],
      rows: drivers.map(({ client, dialect, live, file }, at) => [
        String(at + 1),
        client,
        `\`/compat/${dialect}\``,
        mark(live !== undefined),
        mark(file !== undefined),
      ]),
    },
    '## Live, with models of every provider',
    `One model stands for all of a provider that speak the same protocol; clients have their numbers of above. The embedded recogniser
is tried with speech, whose words have to be told.`,
    tableOf([...PROTOCOLS.map(({ slug }) => slug), EMBEDDED], 'live'),
    `Not so: ${unmet.join(' ')}`,
    '## Files, with models of every provider',
    'One model for files stands for all of a provider.',
    tableOf([...FILE_MODELS, EMBEDDED], 'file'),
  ]);
