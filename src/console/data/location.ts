// Which page of the console is shown: the path of the browser, and how links change it without loading anew.
import { signal } from '@preact/signals';

export const path = signal(location.pathname);
/** What a page is asked for, so that it can be sent to somebody, and is there again after a step back. */
export const query = signal(location.search);

function read(): void {
  path.value = location.pathname;
  query.value = location.search;
}

export function go(to: string): void {
  history.pushState(null, '', to);
  read();
  scrollTo(0, 0);
}

/** The same page, asked for something else. */
export function ask(wanted: URLSearchParams): void {
  const text = wanted.toString();
  history.replaceState(null, '', text === '' ? location.pathname : `?${text}`);
  read();
}

addEventListener('popstate', read);

/** The members of a path such as `/sessions/:id`; undefined where it does not fit. */
export function pathMembers(pattern: string, of: string): Record<string, string> | undefined {
  const [wanted, given] = [pattern.split('/'), of.split('/')];
  if (wanted.length !== given.length) return undefined;
  const members: Record<string, string> = {};
  for (const [at, segment] of wanted.entries()) {
    if (segment.startsWith(':')) members[segment.slice(1)] = decodeURIComponent(given[at] as string);
    else if (segment !== given[at]) return undefined;
  }
  return members;
}
