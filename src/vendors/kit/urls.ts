// How a provider's base URL and a path become the URL of a request or of a WebSocket.

/** Members of a query: undefined ones are left out, lists are repeated, objects are JSON text. */
export type Query = Readonly<Record<string, unknown>>;

/**
 * The URL at `path` below `base`, whichever of http, https, ws and wss the base names: encrypted stays encrypted.
 *
 * @param base as configured, with or without a path and a last slash; the provider's own where none is
 */
export function urlOf(kind: 'http' | 'websocket', base: string, path: string, query: Query = {}): string {
  const url = new URL(base);
  const secure = url.protocol === 'https:' || url.protocol === 'wss:';
  const scheme = kind === 'http' ? 'http' : 'ws';
  const text = `${scheme}${secure ? 's' : ''}://${url.host}${url.pathname.replace(/\/+$/, '')}${path}`;
  const encoded = queryOf(query);
  return encoded === '' ? text : `${text}?${encoded}`;
}

/** A value of a query or a form. */
export const textOf = (value: unknown): string =>
  typeof value === 'object' && value !== null ? JSON.stringify(value) : String(value);

/** Fields of a form: undefined ones are left out, lists are repeated, objects are JSON text. */
export const formOf = (members: Query): [string, string][] =>
  Object.entries(members).flatMap(([name, value]) =>
    (Array.isArray(value) ? value : value === undefined ? [] : [value]).map((each): [string, string] => [
      name,
      textOf(each),
    ]),
  );

/** A query as it stands in a URL. */
export const queryOf = (query: Query): string => new URLSearchParams(formOf(query)).toString();
