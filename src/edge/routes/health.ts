// `/healthz`, `/readyz` and `/metrics`, for the operator and the balancer.
import type { Reply } from '../door.ts';
import { json } from '../router.ts';

export const getHealth = () => async (): Promise<Reply> => json(200, { status: 'ok' });

/** 503 from the moment the node drains, so that a balancer sends nobody here any more. */
export const getReady = (isReady: () => boolean) => async (): Promise<Reply> =>
  isReady() ? json(200, { status: 'ready' }) : json(503, { status: 'draining' });

export const getMetrics = (read: () => Promise<{ contentType: string; body: string }>) => async (): Promise<Reply> => {
  const { contentType, body } = await read();
  return { status: 200, headers: { 'Content-Type': contentType }, body };
};
