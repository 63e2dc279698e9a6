// Who is told of the moments of one file as they come: for metrics and spans. Names only; never what was said.
import type { FailureReason } from '../../machines/events.ts';

/** A request with a file. */
export interface ObservedFile {
  requestId: string;
  organisationId: string;
  /** What the client says its own trace is. */
  traceparent: string | undefined;
}

export interface FileObserver {
  /** A model is asked for the transcript; `answered` or `failed` follows, unless the file is given up. */
  asked(model: string): void;
  answered(model: string): void;
  failed(model: string, reason: FailureReason): void;
  /** Nothing follows. `code`: what the client was told instead of a transcript. */
  ended(code: string | undefined): void;
}
