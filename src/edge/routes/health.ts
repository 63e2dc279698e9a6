// `/healthz`, `/readyz` and `/metrics`, for the operator and the balancer.
import { createHash, timingSafeEqual } from 'node:crypto';
import { refuse } from '../../api/errors.ts';
import type { Reply } from '../door.ts';
import { readRestCredential } from '../http/credentials.ts';
import { json, type RouteContext } from '../router.ts';
import { isPrivateRequest, type Reach } from './console/reach.ts';

const NOT_OPEN =
  'The metrics are not open here. Set VOXGATE_METRICS_TOKEN and send it as a bearer credential; without it they are open on a node that listens on this machine alone, to this machine, under the name localhost or a loopback address.';

export const getHealth = () => async (): Promise<Reply> => json(200, { status: 'ok' });

/** 503 from the moment the node drains, so that a load balancer sends no clients here any more. */
export const getReady = (isReady: () => boolean) => async (): Promise<Reply> =>
  isReady() ? json(200, { status: 'ready' }) : json(503, { status: 'draining' });

export interface MetricsAccess extends Pick<Reach, 'isPrivate'> {
  /** Clients that send it as a bearer credential may read the metrics. Without it they are open to private requests alone. */
  token: string | undefined;
}

/** What the metrics say is the operator's business: how much is used, and what it costs. */
export const getMetrics =
  (read: () => Promise<{ contentType: string; body: string }>, { token, ...reach }: MetricsAccess) =>
  async ({ request }: RouteContext): Promise<Reply> => {
    const sent = readRestCredential(request.headers.get('authorization'));
    // A page that a browser on this machine has open may have given its own name this machine's address.
    const isOpen = token === undefined ? isPrivateRequest(reach, request) : sent !== undefined && isSame(sent, token);
    if (!isOpen) throw refuse('not_found', NOT_OPEN);
    const { contentType, body } = await read();
    return { status: 200, headers: { 'Content-Type': contentType }, body };
  };

/** In the same time wherever they differ. */
function isSame(one: string, other: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(one), digest(other));
}
