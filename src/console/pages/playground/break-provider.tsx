// Where a simulator stands in the place of the provider, it can be told to fail for this one session: to see the failover.
import { useSignal } from '@preact/signals';
import type { BreakBody } from '../../../api/console/playground.ts';
import type { SessionAnswer } from '../../../api/usage.ts';
import { Act } from '../../controls/act.tsx';
import { useAnswer } from '../../data/answer.ts';
import { ask } from '../../data/api.ts';
import type { Run } from './run/run.ts';

const LOOK_MS = 2_000;

const FAULTS: Readonly<Record<BreakBody['fault'], string>> = {
  drop: 'cut the connection',
  stall: 'fall silent',
  error: 'report an error',
};

/** Nothing where a real provider hears the session. */
export function BreakProvider({ run }: { run: Run }) {
  const id = run.sessionId.value;
  const fault = useSignal<BreakBody['fault']>('drop');
  const isLive = run.state.value === 'listening' || run.state.value === 'reconnecting';
  const { value } = useAnswer<SessionAnswer>(isLive && id !== undefined ? `sessions/${id}` : undefined, LOOK_MS);
  const leg = value?.legs?.at(-1);
  if (!isLive || leg?.simulated !== true) return null;
  return (
    <div class="break">
      <p>
        <code>{leg.model}</code> is simulated here. Make it fail for this session, and see what comes of your words.
      </p>
      <div class="row">
        <select
          aria-label="How the provider fails"
          value={fault.value}
          onChange={(event) => (fault.value = event.currentTarget.value as BreakBody['fault'])}
        >
          {Object.entries(FAULTS).map(([name, words]) => (
            <option key={name} value={name}>
              {words}
            </option>
          ))}
        </select>
        <Act class="danger" act={() => ask('POST', `playground/sessions/${id}/break`, { fault: fault.value })}>
          Break the provider
        </Act>
      </div>
    </div>
  );
}
