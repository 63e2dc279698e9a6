// How late finals come: the last one, and the one in the middle.
import { Figure } from '../../controls/figure.tsx';
import { usd } from '../../data/format.ts';
import type { Run } from './run/run.ts';

export const MEANING = {
  speech:
    'From the end of the speech until its final was on this page: with the model’s own wait for the end of a turn, and the way to this browser.',
  gateway: 'From when the provider’s final was read from its connection until the gateway had written it to this page.',
} as const;

export function medianOf(delays: readonly number[]): number | undefined {
  return delays.toSorted((one, other) => one - other)[Math.floor(delays.length / 2)];
}

export const ms = (delay: number | undefined): string | undefined => {
  if (delay === undefined) return undefined;
  return delay < 10 ? `${delay.toFixed(1)} ms` : `${Math.round(delay)} ms`;
};

export const costOf = (run: Run): string | undefined => {
  const cost = run.ended.value?.cost_usd ?? run.figures.value?.costUsd.value;
  return cost === undefined ? undefined : usd(cost);
};

export function Delays({ run }: { run: Run }) {
  const speech = run.finals.value.map(({ delayMs }) => delayMs);
  const gateway = run.figures.value?.gatewayMs.value ?? [];
  const seconds = run.ended.value?.audio_seconds ?? run.tape.value?.seconds;
  run.sent.value;
  return (
    <section class="stack close">
      <dl class="figures">
        <Figure title="End of speech to final, median" value={ms(medianOf(speech))} note={lastOf(speech)} />
        {gateway.length === 0 ? null : (
          <Figure title="Of that the gateway itself" value={ms(medianOf(gateway))} note={lastOf(gateway)} />
        )}
        <Figure title="Audio" value={seconds === undefined ? undefined : `${seconds.toFixed(1)} s`} />
        <Figure title={run.ended.value === undefined ? 'Cost so far' : 'Cost'} value={costOf(run)} />
      </dl>
      <details class="small quiet">
        <summary>What the delays are</summary>
        <p>{MEANING.speech}</p>
        {gateway.length === 0 ? null : <p>The gateway itself: {MEANING.gateway}</p>}
      </details>
    </section>
  );
}

const lastOf = (delays: readonly number[]): string | undefined =>
  delays.length === 0 ? undefined : `${ms(delays.at(-1))} for the last one`;
