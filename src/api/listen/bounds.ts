// How often a session may be configured. Apart from the schemas, like the bounds of aliases: the thread of the ledger works with it too,
// and would load their library for one number.

/** One that wants more is to be opened anew. */
export const CONFIGURATIONS_MAX = 100;
