// A query string, read strictly: no parameter twice, no broken escape, no more than a handful. And values that several endpoints read: a
// time, a whole number, one of a list. Each is well-formed and in range, or is refused by name; nothing is guessed.
import { apiError, printable } from '../api/errors.ts';

const PARAMETERS_MAX = 64;
/** Of the one that may be given more than once. */
const REPEATED_MAX = 200;
/** Longest piece of a parameter's name that a refusal repeats. */
const NAME_SHOWN_MAX = 64;

/**
 * The decoded parameters in their order. `raw` is the part behind the question mark; `+` is a space, empty pieces between
 * `&` are passed over. A parameter that is `repeatable` becomes a JSON array of its values. Throws an ApiError that names the parameter and never shows a value.
 */
export function parseQuery(raw: string, repeatable?: string): Map<string, string> {
  const parameters = new Map<string, string>();
  let repeated: string[] | undefined;
  for (const piece of raw.split('&')) {
    if (piece === '') continue;
    const [rawName, rawValue] = splitPiece(piece);
    const name = decode(rawName, rawName);
    if (name === '')
      throw apiError('invalid_request', 'The query has a value without a name. Write parameters as name=value.');
    if (name === repeatable && parameters.has(name)) {
      repeated ??= [parameters.get(name) as string];
      if (repeated.length === REPEATED_MAX)
        throw apiError('invalid_request', `\`${name}\` is given more than ${REPEATED_MAX} times. Give it less often.`, {
          param: name,
        });
      repeated.push(decode(rawValue, rawName));
      parameters.set(name, JSON.stringify(repeated));
      continue;
    }
    if (parameters.has(name)) {
      const shown = shownName(name);
      throw apiError('duplicate_parameter', `\`${shown}\` is given more than once. Give it once.`, { param: shown });
    }
    if (parameters.size === PARAMETERS_MAX) {
      throw apiError('invalid_request', `The query has more than ${PARAMETERS_MAX} parameters. Send fewer.`);
    }
    parameters.set(name, decode(rawValue, rawName));
  }
  return parameters;
}

/** Name and value of one `name=value` piece, still encoded. */
export function splitPiece(piece: string): [name: string, value: string] {
  const equals = piece.indexOf('=');
  return equals === -1 ? [piece, ''] : [piece.slice(0, equals), piece.slice(equals + 1)];
}

/** Decodes `+` and percent escapes; undefined when an escape is broken. */
export function decodePiece(text: string): string | undefined {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    return undefined;
  }
}

function decode(text: string, rawName: string): string {
  const decoded = decodePiece(text);
  if (decoded !== undefined) return decoded;
  const shown = shownName(decodePiece(rawName) ?? rawName);
  throw apiError(
    'invalid_request',
    `\`${shown}\` has a percent escape that is not UTF-8. Encode the value once, as UTF-8.`,
    {
      param: shown,
    },
  );
}

function shownName(name: string): string {
  return name.slice(0, NAME_SHOWN_MAX).replace(/[^\x20-\x7e]/g, '?');
}

const DAY = /^\d{4}-\d{2}-\d{2}$/;
const LENGTH_MAX = 200;
const TIME = /^(\d{4}-\d{2}-\d{2})T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,3})?)?(?:Z|[+-]\d{2}:\d{2})?$/;

/** The parameters of an endpoint that knows these, and no others. */
export function knownQuery(raw: string, endpoint: string, known: readonly string[]): Map<string, string> {
  const query = parseQuery(raw);
  for (const name of query.keys()) {
    if (known.includes(name)) continue;
    const list = known.length === 0 ? 'It takes none.' : `Known are ${known.join(', ')}.`;
    throw apiError('invalid_request', `\`${printable(name)}\` is not a parameter of ${endpoint}. ${list}`, {
      param: printable(name),
    });
  }
  return query;
}

export function textOf(query: ReadonlyMap<string, string>, name: string): string | undefined {
  const text = query.get(name);
  if (text === undefined || (text !== '' && text.length <= LENGTH_MAX)) return text;
  throw apiError('invalid_request', `\`${name}\` is a text of 1 to ${LENGTH_MAX} characters.`, { param: name });
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
  throw apiError(
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
  throw apiError('invalid_request', `\`${name}\` is an integer from ${min} to ${max}; ${usual} when absent.`, {
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
  throw apiError('invalid_request', `\`${name}\` is ${choices.join(', ')}; ${choices[0]} when absent.`, {
    param: name,
  });
}
