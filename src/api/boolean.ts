// A boolean as clients write it into a query, a form or JSON: every language and library has its own way.
import { apiError, printable } from './errors.ts';

const WORDS: Readonly<Record<string, boolean>> = {
  ...{ true: true, yes: true, on: true, 1: true },
  ...{ false: false, no: false, off: false, 0: false },
};

/** In any case; JSON may have a boolean or a number. Undefined for anything else. */
export function booleanIn(value: unknown): boolean | undefined {
  if (typeof value === 'boolean') return value;
  const word = typeof value === 'string' || typeof value === 'number' ? String(value).toLowerCase() : '';
  return Object.hasOwn(WORDS, word) ? WORDS[word] : undefined;
}

/** Throws an ApiError that names the parameter. */
export function readBooleanIn(name: string, value: unknown): boolean {
  const read = booleanIn(value);
  if (read !== undefined) return read;
  const said = typeof value === 'string' ? `"${printable(value)}"` : printable(JSON.stringify(value) ?? String(value));
  throw apiError(
    'invalid_request',
    `\`${name}\` is ${said}. Send true or false; 1 and 0, yes and no, on and off are accepted too.`,
    {
      param: name,
    },
  );
}
