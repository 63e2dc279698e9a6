// Which page of the console is shown: the path and query of the browser, and how links change them without a reload.
import { signal } from '@preact/signals';

export const path = signal(location.pathname);
/** What a page is filtered by: it stays in links and in the history of the browser. */
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

/** The same page with another query. */
export function setQuery(params: URLSearchParams): void {
  const text = params.toString();
  history.replaceState(null, '', text === '' ? location.pathname : `?${text}`);
  read();
}

addEventListener('popstate', read);

/** The parameters of a path such as `/sessions/:id`; undefined where it does not match. */
export function pathParams(pattern: string, path: string): Record<string, string> | undefined {
  const [expected, actual] = [pattern.split('/'), path.split('/')];
  if (expected.length !== actual.length) return undefined;
  const params: Record<string, string> = {};
  for (const [at, segment] of expected.entries()) {
    if (segment.startsWith(':')) params[segment.slice(1)] = decodeURIComponent(actual[at] as string);
    else if (segment !== actual[at]) return undefined;
  }
  return params;
}
