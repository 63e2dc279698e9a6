// Every endpoint in one line; what it takes and answers is told by the pages of src/docs.
import { operations } from '../../src/docs/openapi.ts';
import type { Operation } from '../../src/docs/operations/operation.ts';
import { page } from './page.ts';

const CREDENTIALS: Readonly<Record<Operation['security'], string>> = {
  none: 'none',
  key: 'API key',
  upload: 'API key, or a client token whose key has the scope `tokens_may_upload`',
  'key or token': 'API key or client token',
  metrics: "the operator's token, if one is set",
};

export const endpointPage = (): string =>
  page('Endpoints', 'src/docs', [
    `A running gateway describes every parameter and answer at \`/docs/rest\` and \`/docs/live\`, and for programs in \`/openapi.json\` and
\`/asyncapi.json\`. [Errors and close codes](errors.md) lists all errors.`,
    {
      head: ['endpoint', 'what it does', 'credential'],
      rows: operations.map(({ method, path, summary, security }) => [
        `\`${method.toUpperCase()} ${path}\``,
        summary,
        CREDENTIALS[security],
      ]),
    },
    `The console's own API (\`/console/api/…\`), for people with a login, is not part of \`/v1\` and may change.`,
  ]);
