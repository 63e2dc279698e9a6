// How quickly the sessions of a node that is shut down are told: each connects again when its turn is over, and the nodes that are
// left take them in one after the other. What a session does when it is told is its chart's.
import type { Clock } from '../../machines/clock.ts';

/** The last is told so long after the first, at the most. */
const SPREAD_MS_MAX = 15_000;
/** And within this part of the time that each of them has from then on. */
const SPREAD_SHARE = 1 / 4;
const STEP_MS = 100;
/** What somebody is told who comes to a node that is shut down. */
export const DRAINING_WORDS = 'This node is being shut down. Connect again; another node answers.';
/** Beyond the time to drain, which begins for each when it is told: for the last that is told, and for the tails of all. */
export const DRAIN_TAIL_MS = 2 * SPREAD_MS_MAX;

/**
 * Tells a fifteenth of them a second, or ten of them where that is more.
 *
 * @returns stops telling
 */
export function tellInTurn<Session>(
  sessions: readonly Session[],
  drainMs: number,
  clock: Clock,
  tell: (session: Session) => void,
): () => void {
  const steps = Math.max(1, Math.floor(Math.min(SPREAD_MS_MAX, drainMs * SPREAD_SHARE) / STEP_MS));
  const atOnce = Math.max(1, Math.ceil(sessions.length / steps));
  let told = 0;
  let timer: unknown;
  const step = () => {
    for (const session of sessions.slice(told, told + atOnce)) tell(session);
    told += atOnce;
    if (told < sessions.length) timer = clock.setTimeout(step, STEP_MS);
  };
  step();
  return () => clock.clearTimeout(timer);
}
