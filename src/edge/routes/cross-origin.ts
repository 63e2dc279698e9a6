// Files from pages: what a browser is told so that a page may send one and read its answer. From which pages a key may be used is
// decided in auth/permissions.ts, as for live sessions.
import { Refusal } from '../../api/errors.ts';
import type { DoorRequest } from '../door.ts';
import type { Route } from '../router.ts';

/** Browsers keep a permission no longer than this. */
const PERMISSION_SECONDS = 7_200;
const ORIGIN = /^[\x21-\x7e]{1,255}$/;
const HEADER_NAMES = /^[\w\-, ]{1,1024}$/;

/** An endpoint that pages may use with a key: its route, and the one of what a browser asks before it, which has no key. */
export const forPages = ({ method, path, handle }: Route): Route[] => [
  {
    method,
    path,
    handle: async (context) => {
      const headers = readableBy(context.request);
      try {
        const reply = await handle(context);
        return { ...reply, headers: { ...headers, ...reply.headers } };
      } catch (error) {
        if (!(error instanceof Refusal) || error.code === 'origin_not_allowed') throw error;
        throw error.withHeaders(headers);
      }
    },
  },
  {
    method: 'OPTIONS',
    path,
    handle: async ({ request }) => {
      const asked = request.headers.get('access-control-request-headers') ?? '';
      return {
        status: 204,
        headers: {
          ...readableBy(request),
          'Access-Control-Allow-Methods': method,
          'Access-Control-Allow-Headers': HEADER_NAMES.test(asked) ? asked : 'authorization, content-type',
          'Access-Control-Max-Age': String(PERMISSION_SECONDS),
        },
      };
    },
  },
];

function readableBy({ headers }: DoorRequest): Record<string, string> {
  const origin = headers.get('origin') ?? '';
  if (!ORIGIN.test(origin)) return { Vary: 'Origin' };
  return { Vary: 'Origin', 'Access-Control-Allow-Origin': origin, 'Access-Control-Expose-Headers': '*' };
}
