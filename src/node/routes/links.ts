// Links of mails, and of the first owner, on a node without the console: they lead to a node that has it.
import { LINK_PATHS } from '../../accounts/people/mails.ts';
import { refuse } from '../../api/errors.ts';
import type { Route } from '../../http/router.ts';

const NO_CONSOLE =
  'No node with the console is known yet: start one whose VOXGATE_ROLES has `edge`, and open this link again. VOXGATE_PUBLIC_URL names its address where clients reach it by another.';

export interface LinksDependencies {
  /** Where people find the console; undefined while no node with it is known. */
  consoleUrl(): string | undefined;
}

export const linkRoutes = ({ consoleUrl }: LinksDependencies): Route[] =>
  Object.values(LINK_PATHS).map((path) => ({
    method: 'GET',
    path,
    handle: async ({ request: { query } }) => {
      const url = consoleUrl()?.replace(/\/+$/, '');
      if (url === undefined) throw refuse('not_found', NO_CONSOLE);
      return { status: 307, headers: { Location: query === '' ? `${url}${path}` : `${url}${path}?${query}` } };
    },
  }));
