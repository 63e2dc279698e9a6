// Log lines for whoever reads them on a terminal: the time, the level, the message and its fields in one line, an error below it.
import { prettyFactory } from 'pino-pretty';
import { type LineWriter, openStandardOutput } from './standard-output.ts';

/** Takes JSON lines and writes them readably. */
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
