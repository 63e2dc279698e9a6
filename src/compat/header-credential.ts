import type { DoorRequest } from '../http/door.ts';
import type { Dialect } from '../vendors/compat/dialect.ts';

/** The credential of a request over HTTP. None is taken from its URL, which is logged: whoever can send a body can send a header. */
export const headerCredentialOf =
  (dialect: Dialect) =>
  ({ query, headers }: Pick<DoorRequest, 'query' | 'headers'>): string | undefined => {
    const { credential, param } = dialect.credential({ query: new URLSearchParams(query), headers });
    return param === undefined ? credential : undefined;
  };
