// The replicated log of the accounts. This is the port and its contract; nats/jetstream/replicated-log.ts implements it.
import { createHash } from 'node:crypto';
import type { Detach } from './bus.ts';

/** The id of a message. Of an entry it also names everything before it, because each entry contains the hash of the one before. */
export const hashOfEntry = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('base64url');

export interface LogMessage {
  /** Its place in the log, from 1; gaps are possible where older messages were removed. */
  sequence: number;
  bytes: Uint8Array;
}

export interface LogEnd {
  /** Of the last message; 0 in a log that never had one. */
  sequence: number;
  /** Of the oldest message that is there. */
  first: number;
  /** Undefined when the log is empty. */
  last: LogMessage | undefined;
}

/** The log does not end where the writer expected: another process has written, or the log has lost its end. */
export class LogConflict extends Error {
  override readonly name = 'LogConflict';
}

/** Where an appended message has to follow. */
export interface Follows {
  sequence: number;
  /** Id of the message there; undefined when only the sequence is known. */
  id: string | undefined;
}

/**
 * A writer checks by itself that the log ends with the message that it follows, unless it wrote that one within this time, which is
 * shorter than other replicas wait before they write.
 */
const ALONE_MS = 1_500;

/** The last message that a process wrote. */
export class LastWritten {
  #written: { sequence: number; id: string; sentMs: number } | undefined;

  /** @param sentMs when its first try was sent */
  wrote(sequence: number, id: string, sentMs: number): void {
    this.#written = { sequence, id, sentMs };
  }

  /** Whether the log still ends with it, because nobody else has written since. */
  isEnd({ sequence, id }: Follows, nowMs: number): boolean {
    const written = this.#written;
    return written?.sequence === sequence && written.id === id && nowMs - written.sentMs < ALONE_MS;
  }
}

/** Whether the message that is to be followed is the last one. */
export const endsWith = ({ last }: LogEnd, { sequence, id }: Follows): boolean =>
  last !== undefined && last.sequence === sequence && hashOfEntry(last.bytes) === id;

export interface LogReader {
  /**
   * Messages in their order, one at a time. The next one waits until this resolves. A sequence that is not above the one before shows
   * that the log has lost its end or was created again; what was written in between may be missing then.
   */
  message(message: LogMessage): Promise<void>;
  /** Messages behind the requested sequence were removed: the reader can only begin with a snapshot. */
  removed(firstSequence: number): void;
}

/**
 * Contract:
 * - When `append` resolves, a majority of the servers has the message, at the sequence after `follows`.
 * - The same message under the same id is stored once, also when it is sent again after a lost answer.
 * - After a rejection with LogConflict it was not stored. After any other rejection it is not known.
 * - `read` delivers everything from that sequence on, again after every outage, until it is detached.
 */
export interface ReplicatedLog {
  /** Resolves with its sequence. Rejects with LogConflict or BusError. */
  append(bytes: Uint8Array, id: string, follows: Follows): Promise<number>;
  /** As the leader of the log sees it. Rejects with BusError. */
  end(): Promise<LogEnd>;
  /** Undefined when there is none. Rejects with BusError. */
  at(sequence: number): Promise<LogMessage | undefined>;
  read(from: number, reader: LogReader): Detach;
}
