// Where the client runs: in Node, or in a page of a browser.
const globals = globalThis as unknown as {
  window?: { document?: unknown };
  process?: { env?: Record<string, string | undefined>; versions?: { node?: string } };
};

export const isNode = (): boolean => globals.process?.versions?.node !== undefined;
export const isBrowser = (): boolean => globals.window?.document !== undefined && !isNode();
export const environment = (name: string): string | undefined => globals.process?.env?.[name] || undefined;
