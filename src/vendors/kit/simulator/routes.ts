// Where a request goes at a simulated service, and what it remembers from one request to the next.
import type { SimulatedAnswer, SimulatedRequest } from '../../simulation.ts';

/** Uploads, jobs and tokens that are remembered; the oldest are forgotten. */
const REMEMBERED_MAX = 200;

/** Undefined for what is not there. */
type Found = SimulatedAnswer | undefined;

/** By `METHOD /path`; a `*` in place of a part of the path is handed over. */
export type Routes = Readonly<Record<string, (part: string) => Found | Promise<Found>>>;

export const ok = (body: NonNullable<SimulatedAnswer['body']>, status = 200): SimulatedAnswer => ({ status, body });

/** The answer of the route that fits; undefined when there is none, or nothing there. */
export function routed({ method, url }: SimulatedRequest, routes: Routes): ReturnType<Routes[string]> | undefined {
  const asked = `${method} ${url.pathname}`;
  const exact = Object.hasOwn(routes, asked) ? routes[asked] : undefined;
  if (exact !== undefined) return exact('');
  const parts = asked.split('/');
  for (const [route, answer] of Object.entries(routes)) {
    const wanted = route.split('/');
    const at = wanted.indexOf('*');
    const fits = wanted.length === parts.length && wanted.every((part, index) => index === at || part === parts[index]);
    if (at !== -1 && fits) return answer(parts[at] as string);
  }
  return undefined;
}

export class Remembered<Value> {
  readonly #values = new Map<string, Value>();

  set(id: string, value: Value): void {
    this.#values.set(id, value);
    const oldest = this.#values.keys().next();
    if (this.#values.size > REMEMBERED_MAX && oldest.done !== true) this.#values.delete(oldest.value);
  }

  get(id: string): Value | undefined {
    return this.#values.get(id);
  }

  /** Gives it out and forgets it. */
  take(id: string): Value | undefined {
    const value = this.#values.get(id);
    this.#values.delete(id);
    return value;
  }
}
