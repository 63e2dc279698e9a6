// `POST /v2/live`: a live session is asked for, and the answer has the address of its WebSocket. The address carries the
// configuration, so that any node can be asked for it, and a client token for the key that is not in it.

import type { Call, Handshake } from '../../compat/dialect.ts';
import { badRequest, carried } from '../../compat/params.ts';
import { type JsonObject, objectIn, objectOf } from '../../kit/json.ts';
import { type Asked, askedOf } from './asked.ts';

const TOO_LARGE = {
  what: 'The configuration',
  advice: 'it stands in the address of the WebSocket. Name fewer words.',
};

export const init: Call = {
  open({ query, requestId }: Handshake, body: unknown) {
    // Nobody here looks at metadata.
    const { custom_metadata: _, ...config } = objectIn(body);
    const { request } = askedOf(query, config);
    const configuration = carried(config, 'realtime_processing', TOO_LARGE);
    return {
      request,
      answer({ mint, socketUrl, at }) {
        const address = new URLSearchParams(query);
        address.set('id', requestId);
        address.set('created_at', at.toISOString());
        address.set('configuration', configuration);
        address.set('token', mint());
        const answer = { id: requestId, created_at: at.toISOString(), url: `${socketUrl('/v2/live')}?${address}` };
        return { status: 201, headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(answer) };
      },
    };
  },
};

/** What the address of a WebSocket says. Throws a Refusal. */
export function readAddress({ query, requestId }: Handshake): {
  id: string;
  createdAt: string;
  config: JsonObject;
  asked: Asked;
} {
  const encoded = query.get('configuration');
  if (encoded === null)
    throw badRequest('configuration', 'Ask for the session by POST /v2/live, and connect to the `url` of its answer.');
  const config: JsonObject = objectOf(Buffer.from(encoded, 'base64url').toString());
  const [id, createdAt] = [query.get('id') ?? requestId, query.get('created_at') ?? ''];
  return { id, createdAt, config, asked: askedOf(query, config) };
}
