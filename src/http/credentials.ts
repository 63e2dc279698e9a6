// Where a credential stands in a request, and how a client that sent it there can be told that it is invalid.
// The first place that is used is the one that counts, whatever stands in it; whether it is valid is decided by src/accounts/auth.
import { decodePiece, splitPiece } from './query.ts';

export type CredentialMethod = 'header' | 'subprotocol' | 'query';

/** What a WebSocket handshake offers. */
export interface SocketCredential {
  /** The first method present, or undefined when there is none. */
  readonly method: CredentialMethod | undefined;
  /** The credential of that method; empty when its content has the wrong form. */
  readonly credential: string | undefined;
  /** The subprotocol to answer: `bearer` as the client spelled it, or none. Never the credential. */
  readonly protocol: string | undefined;
  /**
   * A browser cannot read a refused handshake: with the subprotocol and in the query a refusal is told over an accepted
   * socket, with the header or without a credential by HTTP status.
   */
  readonly tellOnSocket: boolean;
}

/** Judges the places in their order: `Authorization`, then the subprotocol pair, then `api_key` in the query. Never throws. */
export function readSocketCredential(handshake: {
  authorization: string | undefined;
  protocols: string | undefined;
  /** Undecoded. */
  query: string;
}): SocketCredential {
  const { authorization, protocols, query } = handshake;
  const offered = protocols === undefined ? [] : protocols.split(',').map((member) => member.trim());
  const protocol = offered.find(isBearer);
  if (authorization !== undefined) {
    return { method: 'header', credential: bearerCredential(authorization), protocol, tellOnSocket: false };
  }
  if (protocol !== undefined) {
    const [first, credential, ...others] = offered;
    const isPair = first === protocol && credential !== undefined && others.length === 0;
    return { method: 'subprotocol', credential: isPair ? credential : '', protocol, tellOnSocket: true };
  }
  const inQuery = apiKeyOf(query);
  if (inQuery !== undefined) return { method: 'query', credential: inQuery, protocol, tellOnSocket: true };
  return { method: undefined, credential: undefined, protocol, tellOnSocket: false };
}

/** The credential of a REST request: undefined without the header, empty when it is not `Bearer` and one token. */
export function readRestCredential(authorization: string | undefined): string | undefined {
  return authorization === undefined ? undefined : bearerCredential(authorization);
}

/**
 * A query, or a URL with its query, without any parameter that carries a credential, for whatever may end in a log.
 * Errs on the side of leaving out: every parameter that mentions `api_key` goes.
 */
export function stripCredential(text: string): string {
  const start = text.indexOf('?') + 1;
  const kept = text
    .slice(start)
    .split('&')
    .filter((piece) => !mentionsApiKey(piece));
  const query = kept.join('&');
  return query === '' && start > 0 ? text.slice(0, start - 1) : text.slice(0, start) + query;
}

function isBearer(protocol: string): boolean {
  return protocol.toLowerCase() === 'bearer';
}

function bearerCredential(authorization: string): string {
  return /^\s*bearer +([\w.~+/=-]+)\s*$/i.exec(authorization)?.[1] ?? '';
}

function apiKeyOf(query: string): string | undefined {
  for (const piece of query.split('&')) {
    const [name, value] = splitPiece(piece);
    if (decodePiece(name) === 'api_key') return decodePiece(value) ?? '';
  }
  return undefined;
}

function mentionsApiKey(piece: string): boolean {
  return /api_key/i.test(piece) || /api_key/i.test(decodePiece(piece) ?? piece.replace(/%5f/gi, '_'));
}
