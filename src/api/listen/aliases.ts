// The bounds of aliases: names of a key's or an organisation's own, each for a chain of models. Apart from the schemas, whose library
// is more than what works with them needs.

/** Beside the first model of a chain. */
export const FALLBACKS_MAX = 8;

/** Of one key, or of one organisation. */
export const ALIASES_MAX = 50;
/** Of all of them together, as JSON. */
export const ALIASES_BYTES_MAX = 16_384;

/** Without a slash, so that a slug always means the model that it names. */
const ALIAS = /^[A-Za-z0-9][!-.0-~]{0,79}$/;

export const isAlias = (text: string): boolean => ALIAS.test(text);
