// What the carriers of telephone calls have in common as dialects: models of nobody's own, and keys in headers or parameters.

import { authorizationOf } from '../compat/credentials.ts';
import type { Dialect } from '../compat/dialect.ts';
import { KEY_PARAMETER } from './call-start.ts';

export const telephone = (name: string, title: string, live: Dialect['live']): Dialect => ({
  name,
  title,
  names: {},
  live,
  files: {},
  credential: ({ headers, query }) => {
    if (headers.has('authorization')) return { credential: authorizationOf(headers) ?? '' };
    const credential = headers.get('x-api-key') ?? query.get(KEY_PARAMETER) ?? undefined;
    return headers.has('x-api-key') || credential === undefined ? { credential } : { credential, param: KEY_PARAMETER };
  },
  refusal: (refusal, requestId) => ({
    status: refusal.status,
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ error: refusal.body(requestId) }),
  }),
});
