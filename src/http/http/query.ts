// A query string, read strictly: no parameter twice, no broken escape, no more than a handful. What the parameters mean is
// decided by each endpoint.
import { refuse } from '../../api/errors.ts';

const PARAMETERS_MAX = 64;
/** Longest piece of a parameter's name that a refusal repeats. */
const NAME_SHOWN_MAX = 64;

/**
 * The decoded parameters in their order. `raw` is the part behind the question mark; `+` is a space, empty pieces between
 * `&` are passed over. Throws a Refusal that names the parameter and never shows a value.
 */
export function parseQuery(raw: string): Map<string, string> {
  const parameters = new Map<string, string>();
  for (const piece of raw.split('&')) {
    if (piece === '') continue;
    const [rawName, rawValue] = splitPiece(piece);
    const name = decode(rawName, rawName);
    if (name === '')
      throw refuse('invalid_request', 'The query has a value without a name. Write parameters as name=value.');
    if (parameters.has(name)) {
      const shown = shownName(name);
      throw refuse('duplicate_parameter', `\`${shown}\` is given more than once. Give it once.`, { param: shown });
    }
    if (parameters.size === PARAMETERS_MAX) {
      throw refuse('invalid_request', `The query has more than ${PARAMETERS_MAX} parameters. Send fewer.`);
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
  throw refuse(
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
