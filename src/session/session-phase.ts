// What a session is doing, in one word, for the gauge of sessions and for watchers.
import type { StateValue } from 'xstate';

export type SessionPhase = 'connecting' | 'streaming' | 'ending' | 'settling';

/** Of the link: suspended, too, since nothing is waited for. */
const STREAMING: ReadonlySet<string> = new Set(['streaming', 'expiring', 'suspending', 'suspended']);

/** By the state of its chart. */
export function phaseOf(value: StateValue): SessionPhase {
  if (typeof value === 'string') return 'settling';
  const live = value.live as { link: StateValue; client: StateValue } | undefined;
  if (live?.client === 'ending') return 'ending';
  return STREAMING.has(String(live?.link)) ? 'streaming' : 'connecting';
}
