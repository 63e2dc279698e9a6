// How the gateway logs: JSON lines, readable ones on a terminal, and the one list of what never appears in them. Messages are fixed
// strings, everything that varies goes into fields; what is worth a line is decided where it happens.

import {
  type DestinationStream,
  type Logger,
  pino,
  type SerializedError,
  stdSerializers,
  stdTimeFunctions,
} from 'pino';
import { prettyFactory } from 'pino-pretty';
import { type LineWriter, openStandardOutput } from './standard-output.ts';

type LogLevel = 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal' | 'silent';

export type { Logger };

const CENSOR = '[redacted]';

/** Keys whose values never appear, down to the third level. What customers said or own goes below a key `pii`. */
const REDACTED_KEYS = [
  'pii',
  'apiKey',
  'api_key',
  'credential',
  'password',
  'secret',
  'token',
  'authorization',
  'Authorization',
  'cookie',
  'set-cookie',
  'sec-websocket-protocol',
];
const SECRET_KEYS: ReadonlySet<string> = new Set(REDACTED_KEYS);
const LEVELS = 3;

/** The gateway's own keys and tokens, wherever a line should carry one in spite of everything. */
const OWN_CREDENTIALS = /sk_vox_[0-9A-Za-z]{8,}|\b(?:st|ek)_[\w-]{16,}(?:\.[\w-]+)*/g;

/**
 * A logger. `logger.info({ sessionId, pii: { text } }, 'session opened')`.
 *
 * @param destination takes whole lines; standard output when absent, where a terminal gets them readably
 */
export function createLogger(
  level: LogLevel,
  destination: DestinationStream = process.stdout.isTTY ? openTerminal() : openStandardOutput(),
): Logger {
  return pino(
    {
      level,
      base: { pid: process.pid },
      timestamp: stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }), log: (fields) => withoutSecrets(fields, LEVELS) },
      serializers: { err: (error) => shownOf('', loggedError(error), LEVELS) },
      // For the fields of child loggers. With paths for deeper levels, pino examines each value of a line by each path.
      redact: { paths: REDACTED_KEYS.map((key) => `["${key}"]`), censor: CENSOR },
      hooks: { streamWrite: (line) => line.replaceAll(OWN_CREDENTIALS, CENSOR) },
    },
    destination,
  );
}

/** With the name that an error gives itself: the bundler renames a class whose name another one has. */
function loggedError(error: unknown): unknown {
  if (!(error instanceof Error)) return stdSerializers.err(error as Error);
  const logged: SerializedError & { aggregateErrors?: unknown[] } = stdSerializers.err(error);
  if (error.name !== 'Error') logged.type = error.name;
  if (error instanceof AggregateError) logged.aggregateErrors = error.errors.map(loggedError);
  return logged;
}

/** Censors secrets in the fields and in the objects within them, `levels` deep. Copies only objects that have a secret. */
function withoutSecrets<Fields extends object>(fields: Fields, levels: number): Fields {
  let copy: Fields | undefined;
  for (const key of Object.keys(fields)) {
    const value = (fields as Record<string, unknown>)[key];
    const shown = shownOf(key, value, levels);
    if (shown === value) continue;
    copy ??= Array.isArray(fields) ? (fields.slice() as Fields) : { ...fields };
    (copy as Record<string, unknown>)[key] = shown;
  }
  return copy ?? fields;
}

function shownOf(key: string, value: unknown, levels: number): unknown {
  if (value === undefined) return undefined;
  if (SECRET_KEYS.has(key) || key.startsWith('pii.')) return CENSOR;
  const isLeaf = typeof value !== 'object' || value === null || levels === 1;
  // An error is censored once it is serialized.
  return isLeaf || (key === 'err' && levels === LEVELS) ? value : withoutSecrets(value, levels - 1);
}

/**
 * Takes JSON lines and writes them readably on a terminal: the time, the level, the message and its fields in one line, an error
 * below it.
 */
export function openTerminal(
  output: LineWriter = openStandardOutput(),
  isColoured = !('NO_COLOR' in process.env),
): LineWriter {
  const readable = prettyFactory({
    colorize: isColoured,
    translateTime: 'SYS:HH:MM:ss',
    // Of one process on one terminal they say nothing.
    ignore: 'pid,node',
    singleLine: true,
  });
  return { write: (line) => output.write(readable(line)) };
}
