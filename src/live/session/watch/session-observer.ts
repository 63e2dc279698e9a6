// Who is told of the moments of a session as they come: for metrics, spans and the log. Names, times and figures; never what was said.
import type { FailureReason } from '../../../../machines/events.ts';
import type { LegNote } from '../leg/leg-record.ts';
import type { TurnDelays } from './session-delays.ts';

export interface FailoverNote {
  /** Models. */
  from: string;
  to: string;
  reason: FailureReason;
  replayedSeconds: number;
}

/** A turn that has its final. */
export interface TurnNote extends TurnDelays {
  turn: number;
  model: string;
  /** Where it lies in the session, in seconds of audio. */
  start: number;
  end: number;
}

/** Takes the text of a session's finals, also those that its client could not be sent. */
export interface TranscriptGatherer {
  turn(place: { start: number; end: number }, text: string): void;
  /** The session has ended. Never rejects. */
  end(): Promise<void>;
}

export interface SessionObserver {
  leg(note: LegNote): void;
  turn(note: TurnNote): void;
  failover(note: FailoverNote): void;
  /** A warning or an error, by its code. */
  warned(code: string): void;
  /** Samples once a second of audio: from a frame of the client's until it was handed to the leg's connection. */
  audioPassed(model: string, delayMs: number): void;
}
