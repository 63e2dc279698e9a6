// How the events of a session are written for its client, where that is not in the gateway's own words.
import type { OutgoingEvent } from '../listen.ts';

export interface EventStamp {
  sessionId: string;
  /** Number of the event: rises by one, without gaps. */
  seq: number;
  at: Date;
}

/** Keeps what it needs of earlier events: one for each session. */
export interface EventEncoder {
  /** The messages that tell of it, in their order; none where the client's protocol has no word for it. */
  encode(event: OutgoingEvent, stamp: EventStamp): readonly string[];
  /** The close frame, out of the gateway's own. `reason`: the error's code, or empty. */
  close(code: number, reason: string): { code: number; reason: string };
}
