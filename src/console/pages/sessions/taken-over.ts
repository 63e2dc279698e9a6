// Which model took over after a failure. A model that a live client chose with `configure` has not taken over.
import type { SessionAnswer } from '../../../api/usage.ts';

const UNFAILED: ReadonlySet<string> = new Set(['connecting', 'streaming', 'suspended', 'closed']);

/** The latest one; undefined without a failover, and for a live session whose connections are no longer known. */
export function takenOverBy({
  mode,
  model,
  legs = [],
  usage,
}: Pick<SessionAnswer, 'mode' | 'model' | 'legs' | 'usage'>): string | undefined {
  // Nothing but a failover gives a file another model.
  if (mode === 'batch') return usage.findLast((row) => row.model !== model)?.model;
  const last = legs.findLast(({ model: next }, at) => {
    const before = legs[at - 1];
    return before !== undefined && before.model !== next && !UNFAILED.has(before.state);
  })?.model;
  return last === model ? undefined : last;
}
