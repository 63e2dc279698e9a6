// Where the console's pages are: the gateway serves the same document at each, and the console draws what the path names.
export const CONSOLE_PATHS = [
  '/',
  '/audit',
  '/gateway',
  '/jobs',
  '/keys',
  '/models',
  '/models/:provider/:model',
  '/machines',
  '/members',
  '/playground',
  '/provider-keys',
  '/sessions',
  '/sessions/:id',
  '/settings',
  '/usage',
  '/webhooks',
] as const;
export type ConsolePath = (typeof CONSOLE_PATHS)[number];
