// The faults a simulated provider can be told to have: their names, values and one line each, and how they are read from
// `name` or `name=value`. What each does is decided in stage.ts, hearing.ts and saying.ts.

/** How a value is written; `read` gives undefined for what is not written so. */
interface Form<Value> {
  /** As shown beside the name: `<status>`; '' where there is no value. */
  text: string;
  /** What is accepted, for a sentence: "an HTTP status from 400 to 599". */
  accepted: string;
  read(text: string): Value | undefined;
}

/** Longest duration or position. */
const LONGEST_MS = 3_600_000;
const COUNT_MAX = 1_000_000;
/** Close codes that may be sent in a frame (RFC 6455 7.4). */
const CLOSE_CODES = /^(?:100[0-3]|100[7-9]|101[0-4]|[34]\d{3})$/;
const UNIT_MS: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000 };

function readMs(text: string): number | undefined {
  const [, number, unit = 'ms'] = /^(\d{1,7}(?:\.\d{1,6})?)(ms|s|m)$/.exec(text) ?? (text === '0' ? ['', '0'] : []);
  const ms = Number(number) * (UNIT_MS[unit] as number);
  return ms <= LONGEST_MS ? ms : undefined;
}

function readSeconds(text: string): number | undefined {
  const ms = readMs(text);
  return ms === undefined ? undefined : ms / 1_000;
}

function readCount(text: string): number | undefined {
  const count = /^\d{1,7}$/.test(text) ? Number(text) : 0;
  return count >= 1 && count <= COUNT_MAX ? count : undefined;
}

const NONE: Form<true> = { text: '', accepted: 'no value', read: (text) => (text === '' ? true : undefined) };
const STATUS: Form<number> = {
  text: '<status>',
  accepted: 'an HTTP status from 400 to 599',
  read: (text) => (/^[45]\d\d$/.test(text) ? Number(text) : undefined),
};
const COUNT: Form<number> = { text: '<n>', accepted: 'a number from 1 to 1000000', read: readCount };
const DURATION: Form<number> = {
  text: '<duration>',
  accepted: 'a duration of at most an hour, such as 250ms or 5s',
  read: readMs,
};
const POSITION: Form<number> = {
  text: '<audio>',
  accepted: 'seconds of audio heard on the connection, such as 250ms or 5s',
  read: readSeconds,
};
/** Undefined position: with the first message. */
const POSITION_OR_NONE: Form<{ seconds: number | undefined }> = {
  text: '[<audio>]',
  accepted: `nothing, for the first message, or ${POSITION.accepted}`,
  read(text) {
    if (text === '') return { seconds: undefined };
    const seconds = readSeconds(text);
    return seconds === undefined ? undefined : { seconds };
  },
};
const POSITION_AND_CODE: Form<{ seconds: number; code: number }> = {
  text: '<audio>[:<code>]',
  accepted: `${POSITION.accepted}, and a close code that may be sent, such as 5s:1008`,
  read(text) {
    const [position = '', code = '1011', ...more] = text.split(':');
    const seconds = readSeconds(position);
    if (seconds === undefined || more.length > 0 || !CLOSE_CODES.test(code)) return undefined;
    return { seconds, code: Number(code) };
  },
};

interface Row<Value> {
  form: Form<Value>;
  /** One line of words. */
  about: string;
}
const row = <Value>(form: Form<Value>, about: string): Row<Value> => ({ form, about });

/** Every fault. `<audio>` positions count what was heard on that connection. */
export const FAULTS = {
  refuse: row(STATUS, 'upgrades and requests are refused with this status, in the provider’s words'),
  'refuse-next': row(COUNT, 'only the first n are refused: with the status of refuse, or 503'),
  hang: row(NONE, 'upgrades and requests are never answered'),
  mute: row(NONE, 'upgrades are accepted and nothing is ever said; requests are never answered'),
  'error-after': row(
    DURATION,
    'so long after the connection was accepted the provider fails in its own words and closes',
  ),
  'close-after': row(POSITION_AND_CODE, 'the connection is closed, with 1011 where no code is given'),
  'drop-after': row(POSITION, 'the connection is reset'),
  'stall-after': row(POSITION, 'nothing is said any more; audio is still read'),
  'freeze-after': row(POSITION, 'nothing is said any more, and nothing read'),
  'slow-close': row(NONE, 'the end of the audio is never confirmed, a close never answered'),
  'duplicate-finals': row(NONE, 'every final is said twice'),
  'late-finals': row(DURATION, 'finals come so much later, behind what was said since'),
  'late-final-after-next': row(NONE, 'a final comes once the next turn has begun'),
  'revised-interims': row(NONE, 'every other interim begins with another word'),
  'empty-start': row(DURATION, 'as long as nothing was heard, each so much audio is settled without words'),
  'slow-tail': row(DURATION, 'what is said when the audio has ended comes so much later, in order, the close as well'),
  'empty-finals': row(COUNT, 'every n-th final has no text'),
  'invented-text': row(
    NONE,
    'turns without words, and pauses of two seconds in files, get invented text, such as “Thank you.”',
  ),
  'unknown-messages': row(NONE, 'a message of an unknown type before every message'),
  'binary-messages': row(NONE, 'a binary message before every message'),
  'huge-message': row(POSITION_OR_NONE, 'a message of 5 MB'),
  'non-object-json': row(NONE, 'before every message a text that is no JSON object'),
  'invalid-utf8': row(POSITION_OR_NONE, 'a text frame that is no UTF-8'),
  'deflate-bomb': row(POSITION_OR_NONE, 'a compressed frame that was never negotiated, of 16 MiB unpacked'),
  'tiny-fragments': row(NONE, 'the first message comes in fragments of one byte'),
  'restart-times': row(NONE, 'the provider’s times begin at 0 again at each turn'),
  latency: row(DURATION, 'everything is said so much later, in order'),
};

export type FaultName = keyof typeof FAULTS;

/** The faults requested, with their values read. */
export type Faults = {
  readonly [Name in FaultName]?: (typeof FAULTS)[Name] extends Row<infer Value> ? Value : never;
};

/** What was requested is not known, or not written as it should be. The message is one sentence for people. */
export class FaultRefused extends Error {
  override readonly name = 'FaultRefused';
}

/**
 * Reads `name` and `name=value`: the host's faults, and the simulator's own quirks.
 *
 * @throws FaultRefused for an unknown or repeated name, or a value of another form.
 */
export function readFaults(
  asked: readonly string[],
  quirkNames: Readonly<Record<string, string>>,
): { faults: Faults; quirks: ReadonlyMap<string, string> } {
  const faults: Record<string, unknown> = {};
  const quirks = new Map<string, string>();
  for (const each of asked) {
    const at = each.indexOf('=');
    const name = at === -1 ? each : each.slice(0, at);
    const value = at === -1 ? '' : each.slice(at + 1);
    if (Object.hasOwn(faults, name) || quirks.has(name)) throw new FaultRefused(`The fault "${name}" is given twice.`);
    if (Object.hasOwn(FAULTS, name)) faults[name] = readValue(name as FaultName, value);
    else if (Object.hasOwn(quirkNames, name)) quirks.set(name, value);
    else throw unknown(name, quirkNames);
  }
  return { faults: faults as Faults, quirks };
}

function readValue(name: FaultName, text: string): unknown {
  const { form } = FAULTS[name];
  const value = form.read(text);
  if (value !== undefined) return value;
  const given = text === '' ? 'nothing' : `"${text}"`;
  throw new FaultRefused(`The fault ${name} takes ${form.accepted}; ${given} was given.`);
}

function unknown(name: string, quirkNames: Readonly<Record<string, string>>): FaultRefused {
  const known = [...Object.keys(FAULTS), ...Object.keys(quirkNames)].join(', ');
  return new FaultRefused(`There is no fault "${name}". Accepted are: ${known}.`);
}
