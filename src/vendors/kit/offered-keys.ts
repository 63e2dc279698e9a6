// Where requests of several vendors carry their keys: for the gateway, which serves their clients, and for their simulators.

/** The key in `Authorization: <scheme> <key>`, bearer by default; undefined without one, or with another scheme. */
export function authorizationOf(header = '', ...schemes: readonly string[]): string | undefined {
  const known = schemes.length === 0 ? 'bearer' : schemes.join('|');
  return new RegExp(`^\\s*(?:${known}) +(\\S+)\\s*$`, 'i').exec(header)?.[1];
}

/** The subprotocols of `Sec-WebSocket-Protocol`. Browsers cannot set headers, so they send keys among these. */
export const subprotocolsOf = (header = ''): string[] =>
  header
    .split(',')
    .map((each) => each.trim())
    .filter((each) => each !== '');
