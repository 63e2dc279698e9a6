// Where the console's pages are: the gateway serves the same document at each, and the console draws what the path names.
export const CONSOLE_PATHS = [
  '/console',
  '/console/audit',
  '/console/keys',
  '/console/models',
  '/console/models/:provider/:model',
  '/console/machines',
  '/console/playground',
  '/console/provider-keys',
  '/console/sessions',
  '/console/sessions/:id',
  '/console/settings',
  '/console/usage',
] as const;
export type ConsolePath = (typeof CONSOLE_PATHS)[number];
