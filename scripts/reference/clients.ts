// Official clients of other vendors, and the models that they are tried with.
import { drivers } from '../../test/dialects/drivers/index.ts';
import { PROTOCOLS } from '../../test/failover/protocols.ts';
import { page } from './page.ts';

/** Of the clients that speak live, as the first table has them. */
const numbers = drivers.flatMap(({ live }, at) => (live === undefined ? [] : [String(at + 1)]));

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
    'One model stands for all of a provider that speak the same protocol; clients have their numbers of above.',
    {
      head: ['model', ...numbers],
      rows: PROTOCOLS.map(({ slug }) => [`\`${slug}\``, ...numbers.map(() => 'yes')]),
    },
  ]);
