// Where the handshakes of several vendors carry their keys.
type Headers = ReadonlyMap<string, string>;

/** The key in `Authorization: <scheme> <key>`; undefined where there is none, or of another scheme. */
export const authorizationOf = (headers: Headers, scheme = 'bearer'): string | undefined =>
  new RegExp(`^\\s*(?:${scheme}) +(\\S+)\\s*$`, 'i').exec(headers.get('authorization') ?? '')?.[1];

/** The subprotocols that are offered: browsers cannot set headers, and send keys among these. */
export const subprotocolsOf = (headers: Headers): string[] =>
  (headers.get('sec-websocket-protocol') ?? '').split(',').map((each) => each.trim());
