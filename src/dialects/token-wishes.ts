// What other vendors' clients ask of a token.
import { booleanIn } from '../api/values/boolean.ts';
import type { Members } from '../providers/kit/json.ts';
import { badRequest } from './texts.ts';

/** A number of seconds that a token is asked for, if it is one. */
export function secondsAsked(param: string, value: unknown): number | undefined {
  if (value === undefined || value === null || value === '') return undefined;
  const seconds = typeof value === 'object' ? Number.NaN : Number(value);
  if (Number.isFinite(seconds) && seconds > 0) return seconds;
  throw badRequest(param, `\`${param}\` has to be a number of seconds.`);
}

/** Refuses what a token is asked to be besides short-lived. */
export function refuseOfToken(params: Members, names: readonly string[]): void {
  const asked = names.find(
    (name) => ![undefined, null, ''].includes(params[name] as never) && booleanIn(params[name]) !== false,
  );
  if (asked !== undefined)
    throw badRequest(asked, `\`${asked}\` is not served: a token opens live sessions for its time. Leave it out.`);
}
