// Standard output for log lines: writing never waits, never throws and never ends the process, whatever the reader does.
// (pino's own stream tries for ever to flush at the exit when the disk is full or the pipe was closed.)
import { write, writeSync } from 'node:fs';

/** What waits for a slow reader; lines beyond it are dropped and counted. */
const WAITING_BYTES_MAX = 1024 * 1024;
const STANDARD_OUTPUT = 1;
/** A pipe that takes nothing right now is tried again after this time. */
const AGAIN_MS = 50;
/** Lines of this time are written together: each write has the system wake a thread, and costs more than making the lines. */
const GATHER_MS = 10;

export interface LineWriter {
  write(line: string): void;
}

/**
 * Takes whole lines and writes them in order. Writing never waits, never throws and never ends the process (pino's own stream
 * tries for ever to flush at the exit when the disk is full or the pipe was closed). A closed pipe swallows them from then on;
 * after any other failure (a full disk) they wait, up to 1 MiB, and are tried again with the next line. What still waits at the
 * exit gets one last try.
 *
 * @param onDrop called for each line that is dropped; must not log
 */
export function openStandardOutput(onDrop: () => void = () => {}): LineWriter {
  let waiting: string[] = [];
  let waitingBytes = 0;
  /** What is handed to the system, until it is written in full. */
  let current: Buffer = Buffer.alloc(0);
  let isWriting = false;
  let isGathering = false;
  let isClosed = false;

  function gather(): void {
    if (isWriting || isGathering) return;
    isGathering = true;
    setTimeout(next, GATHER_MS).unref();
  }

  function next(): void {
    isGathering = false;
    if (isWriting) return;
    if (current.length === 0) {
      current = Buffer.from(waiting.join(''));
      waiting = [];
    }
    if (current.length === 0) return;
    isWriting = true;
    write(STANDARD_OUTPUT, current, written);
  }

  function written(error: NodeJS.ErrnoException | null, bytes: number): void {
    isWriting = false;
    if (error === null) {
      current = current.subarray(bytes);
      waitingBytes -= bytes;
      if (current.length > 0) next();
      else if (waiting.length > 0) gather();
    } else if (error.code === 'EAGAIN') {
      setTimeout(next, AGAIN_MS).unref();
    } else {
      isClosed = error.code === 'EPIPE';
    }
  }

  process.once('exit', () => {
    const rest = [isWriting ? Buffer.alloc(0) : current, Buffer.from(waiting.join(''))];
    try {
      if (!isClosed) writeSync(STANDARD_OUTPUT, Buffer.concat(rest));
    } catch {
      // Nowhere is left to tell it.
    }
  });

  return {
    write(line) {
      const bytes = Buffer.byteLength(line);
      if (isClosed || waitingBytes + bytes > WAITING_BYTES_MAX) {
        onDrop();
        return;
      }
      waiting.push(line);
      waitingBytes += bytes;
      gather();
    },
  };
}
