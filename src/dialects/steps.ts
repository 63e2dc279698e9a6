// What several dialects do alike with what a client says and what a session tells.
import { Refusal } from '../api/errors.ts';
import type { OutgoingEvent } from '../api/listen.ts';
import type { Step, Wish } from './dialect.ts';

/** The session that a client's message asks for, or its refusal. @param asked throws a Refusal */
export function startOf(asked: () => Wish): Step {
  try {
    return { type: 'start', wish: asked() };
  } catch (error) {
    if (error instanceof Refusal) return { type: 'refuse', refusal: error };
    throw error;
  }
}

/** The model that hears from this event on; undefined of one that changes none. */
export function modelFrom(event: OutgoingEvent): string | undefined {
  switch (event.type) {
    case 'session_started':
    case 'configured':
      return event.model;
    case 'failover':
      return event.to;
    default:
      return undefined;
  }
}
