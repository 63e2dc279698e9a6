// Which page of the console is shown: the path of the browser, and how links change it without loading anew.
import { signal } from '@preact/signals';

export const path = signal(location.pathname);

export function go(to: string): void {
  history.pushState(null, '', to);
  path.value = location.pathname;
  scrollTo(0, 0);
}

addEventListener('popstate', () => {
  path.value = location.pathname;
});

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
