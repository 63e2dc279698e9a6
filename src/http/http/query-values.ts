// Values of a query that several endpoints read: a time, a whole number, one of a list. Each is well-formed and in range, or is
// refused by name; nothing is guessed.
import { printable, refuse } from '../../api/errors.ts';
import { parseQuery } from './query.ts';

const DAY = /^\d{4}-\d{2}-\d{2}$/;
const LENGTH_MAX = 200;
const TIME = /^(\d{4}-\d{2}-\d{2})T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,3})?)?(?:Z|[+-]\d{2}:\d{2})?$/;

/** The parameters of an endpoint that knows these, and no others. */
export function knownQuery(raw: string, endpoint: string, known: readonly string[]): Map<string, string> {
  const query = parseQuery(raw);
  for (const name of query.keys()) {
    if (known.includes(name)) continue;
    const list = known.length === 0 ? 'It takes none.' : `Known are ${known.join(', ')}.`;
    throw refuse('invalid_request', `\`${printable(name)}\` is not a parameter of ${endpoint}. ${list}`, {
      param: printable(name),
    });
  }
  return query;
}

export function textOf(query: ReadonlyMap<string, string>, name: string): string | undefined {
  const text = query.get(name);
  if (text === undefined || (text !== '' && text.length <= LENGTH_MAX)) return text;
  throw refuse('invalid_request', `\`${name}\` is a text of 1 to ${LENGTH_MAX} characters.`, { param: name });
}

/** Epoch milliseconds of an ISO 8601 date or time; without an offset it is UTC. Undefined when it is absent. */
export function timeOf(query: ReadonlyMap<string, string>, name: string): number | undefined {
  // A plus sign that was not escaped has become a space.
  const text = query.get(name)?.replace(/ (?=\d{2}:\d{2}$)/, '+');
  if (text === undefined) return undefined;
  const [, day = text] = TIME.exec(text) ?? [];
  const ms = DAY.test(day)
    ? Date.parse(text === day || /(?:Z|[+-]\d{2}:\d{2})$/.test(text) ? text : `${text}Z`)
    : Number.NaN;
  // There is no 30th of February, though some take it for a day in March.
  if (Number.isFinite(ms) && new Date(`${day}T00:00Z`).toISOString().startsWith(day)) return ms;
  throw refuse(
    'invalid_request',
    `\`${name}\` is an ISO 8601 date or time in UTC, such as 2026-01-31 or 2026-01-31T12:00:00Z.`,
    { param: name },
  );
}

export function wholeNumberOf(
  query: ReadonlyMap<string, string>,
  name: string,
  { min, max, default: usual }: { min: number; max: number; default: number },
): number {
  const text = query.get(name);
  if (text === undefined) return usual;
  const value = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
  if (value >= min && value <= max) return value;
  throw refuse('invalid_request', `\`${name}\` is an integer from ${min} to ${max}; ${usual} when absent.`, {
    param: name,
  });
}

export function choiceOf<Choice extends string>(
  query: ReadonlyMap<string, string>,
  name: string,
  choices: readonly [Choice, ...Choice[]],
): Choice {
  const text = query.get(name) ?? choices[0];
  const choice = choices.find((each) => each === text);
  if (choice !== undefined) return choice;
  throw refuse('invalid_request', `\`${name}\` is ${choices.join(', ')}; ${choices[0]} when absent.`, { param: name });
}
