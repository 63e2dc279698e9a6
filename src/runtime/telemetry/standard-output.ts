// Standard output for log lines: writing never waits, never throws and never ends the process, whatever the reader does.
// (pino's own stream tries for ever to flush at the exit when the disk is full or the pipe was closed.)
import { write, writeSync } from 'node:fs';
import { codeOf } from '../error-code.ts';

/** What waits for a slow reader; lines beyond it are dropped and counted. */
const WAITING_BYTES_MAX = 1024 * 1024;
const STANDARD_OUTPUT = 1;
/** A pipe that takes nothing right now is tried again after this time. */
const AGAIN_MS = 50;
/** Lines of this time are written together: each write has the system wake a thread, and costs more than making the lines. */
const GATHER_MS = 10;
/** Of one write: as much as a pipe holds, so that one in progress ends soon when its reader reads. */
const WRITE_BYTES_MAX = 64 * 1024;
/** How long the exit waits for a write in progress, and how often and how long for a full pipe. */
const LAST_WRITE_MS = 100;
const LAST_TRIES = 20;
const LAST_TRY_MS = 5;

/** Of the whole thread. */
const sleep = (ms: number): void => void Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);

/** At the exit. */
function writeLast(bytes: Buffer): void {
  let rest = bytes;
  for (let tries = 0; rest.length > 0 && tries < LAST_TRIES; tries++) {
    try {
      rest = rest.subarray(writeSync(STANDARD_OUTPUT, rest));
    } catch (error) {
      // Nowhere is left to tell it.
      if (codeOf(error) !== 'EAGAIN') return;
      sleep(LAST_TRY_MS);
    }
  }
}

export interface LineWriter {
  write(line: string): void;
}

/**
 * Takes whole lines and writes them in order. Writing never waits, never throws and never ends the process (pino's own stream
 * tries for ever to flush at the exit when the disk is full or the pipe was closed). A closed pipe swallows them from then on;
 * after any other failure (a full disk) they wait, up to 1 MiB, and are tried again with the next line. What still waits at the
 * exit is written then, as far as a reader takes it within 100 ms.
 *
 * @param onDrop called for each line that is dropped; must not log
 */
export function openStandardOutput(onDrop: () => void = () => {}): LineWriter {
  const waiting: string[] = [];
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

  /** One at least. */
  function nextLines(): string[] {
    let bytes = 0;
    const end = waiting.findIndex((line, at) => {
      bytes += Buffer.byteLength(line);
      return at > 0 && bytes > WRITE_BYTES_MAX;
    });
    return waiting.splice(0, end < 0 ? waiting.length : end);
  }

  function next(): void {
    isGathering = false;
    if (isWriting) return;
    if (current.length === 0) current = Buffer.from(nextLines().join(''));
    if (current.length === 0) return;
    isWriting = true;
    write(STANDARD_OUTPUT, current, written);
  }

  function written(error: NodeJS.ErrnoException | null, bytes: number): void {
    isWriting = false;
    if (error === null) {
      current = current.subarray(bytes);
      waitingBytes -= bytes;
      if (current.length > 0 || waitingBytes > WRITE_BYTES_MAX) next();
      else if (waiting.length > 0) gather();
    } else if (error.code === 'EAGAIN') {
      setTimeout(next, AGAIN_MS).unref();
    } else {
      isClosed = error.code === 'EPIPE';
    }
  }

  process.once('exit', () => {
    if (isClosed) return;
    // Else the process ends in the middle of a line.
    if (isWriting) sleep(LAST_WRITE_MS);
    writeLast(Buffer.concat([isWriting ? Buffer.alloc(0) : current, Buffer.from(waiting.join(''))]));
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
