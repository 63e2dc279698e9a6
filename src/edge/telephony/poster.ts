// One POST of JSON to an address of a customer's: no redirects, nothing read of the answer but its status, and a time for all of it.
import { type ClientRequestArgs, Agent as HttpAgent, request as httpRequest } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import { type BlockList, isIP } from 'node:net';
import { isReachable, notReachable, reachableLookup } from './reachable.ts';

const POST_MS = 10_000;
/** Of one address; further posts wait for these. */
const CONNECTIONS_MAX = 8;
/** Kept open for the next post. */
const IDLE_MAX = 64;

/** Resolves with the status. Rejects where there is none. */
export type Post = (url: URL, headers: Readonly<Record<string, string>>, body: string) => Promise<number>;

export interface Poster {
  post: Post;
  /** Ends idle connections, and what is under way. */
  close(): void;
}

/** @param networks private ones that may be reached */
export function openPoster(networks: BlockList | undefined): Poster {
  const limits = { keepAlive: true, maxSockets: CONNECTIONS_MAX, maxFreeSockets: IDLE_MAX, timeout: POST_MS };
  const plain = new HttpAgent({ ...limits });
  const tls = new HttpsAgent({ ...limits });
  const lookups = { 'http:': reachableLookup(networks, false), 'https:': reachableLookup(networks, true) };
  const post: Post = (url, headers, body) => {
    const isTls = url.protocol === 'https:';
    const literal = url.hostname.replace(/^\[|\]$/g, '');
    // An address is not looked up.
    if (isIP(literal) !== 0 && !isReachable(literal, networks, isTls)) return Promise.reject(notReachable(literal));
    const options: ClientRequestArgs & { method: string } = {
      method: 'POST',
      headers: { ...headers, 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(body) },
      agent: isTls ? tls : plain,
      lookup: lookups[isTls ? 'https:' : 'http:'],
      signal: AbortSignal.timeout(POST_MS),
    };
    return new Promise((resolve, reject) => {
      const request = (isTls ? httpsRequest : httpRequest)(url, options, (response) => {
        // A long answer costs its connection.
        if (Number(response.headers['content-length'] ?? 0) > 65_536) response.destroy();
        else response.resume().on('error', () => {});
        resolve(response.statusCode ?? 0);
      });
      request.on('error', reject);
      request.end(body);
    });
  };
  return {
    post,
    close: () => {
      plain.destroy();
      tls.destroy();
    },
  };
}
