// What of a run is not as it was asked for, where it cannot be missed: warnings of the gateway, and a connection that broke.
import { Notice, type Tone } from '../../../controls/notice.tsx';
import type { Run, RunState } from './run.ts';

const TONES: Readonly<Record<RunState, Tone>> = {
  opening: 'busy',
  listening: 'good',
  reconnecting: 'warn',
  finishing: 'busy',
  ended: 'quiet',
};

/** A run with a warning does not look like one without. */
export function toneOf({ state, failure, warnings }: Run): Tone {
  if (failure.value !== undefined) return 'bad';
  return warnings.value.length > 0 ? 'warn' : TONES[state.value];
}

export function Warnings({ run: { warnings, reconnecting } }: { run: Run }) {
  const broken = reconnecting.value;
  if (warnings.value.length === 0 && broken === undefined) return null;
  return (
    <Notice tone="warn">
      {broken === undefined ? null : (
        <p>
          The connection was lost ({broken.reason}). Attempt {broken.attempt} to reconnect follows; audio is kept until
          then.
        </p>
      )}
      {warnings.value.map(({ code, message, param }) => (
        <p key={`${code} ${param} ${message}`}>
          {message} <code class="small">{param === undefined ? code : `${code}: ${param}`}</code>
        </p>
      ))}
    </Notice>
  );
}
