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
      formatters: { level: (label) => ({ level: label }), log: censorMarkedKeys },
      serializers: { err: loggedError },
      redact: { paths: REDACTED_KEYS.flatMap(atThreeLevels), censor: CENSOR },
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

function atThreeLevels(key: string): string[] {
  return [`["${key}"]`, `*["${key}"]`, `*.*["${key}"]`];
}

/** Flat keys such as `pii.text`, which paths cannot name. */
function censorMarkedKeys(fields: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(fields).map(([key, value]) => [key, key.startsWith('pii.') ? CENSOR : value]),
  );
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
