// Text of a provider on its way to a client: what no client should have to cope with is taken out, all else stays as it is.

/** Half of a surrogate pair. */
const LONE_SURROGATE = /\p{Surrogate}/gu;

/** The text without NUL, which databases and C refuse, and with U+FFFD for half characters, which are no UTF-8. */
export const readable = (text: string): string => text.replaceAll('\0', '').replace(LONE_SURROGATE, '\ufffd');
