// The same audio, heard by several models: text with what differs from the first, delay and price.
import { Failure } from '../../controls/notice.tsx';
import { usd } from '../../data/format.ts';
import { differences } from './differences.ts';
import type { Run } from './run.ts';

const textOf = ({ finals }: Run): string => finals.value.map(({ text }) => text).join(' ');

export function Comparison({ runs }: { runs: readonly Run[] }) {
  const [first] = runs;
  const reference = first === undefined ? '' : textOf(first);
  return (
    <section class="stack close">
      <h2>Beside each other</h2>
      <p class="quiet">Words that the first model did not hear so are marked.</p>
      <div class="columns">
        {runs.map((run) => (
          <Heard key={run.asked.model} run={run} reference={run === first ? undefined : reference} />
        ))}
      </div>
    </section>
  );
}

function Heard({ run, reference }: { run: Run; reference: string | undefined }) {
  const { asked, finals, interim, failure, state, ended } = run;
  const delays = finals.value.map(({ delayMs }) => delayMs);
  const mean = delays.reduce((sum, delay) => sum + delay, 0) / delays.length;
  const words = reference === undefined ? undefined : differences(textOf(run), reference);
  return (
    <article class="card">
      <h3>
        <code>{asked.model}</code>
      </h3>
      <Failure of={failure.value} />
      <p>
        {words === undefined
          ? textOf(run)
          : words.map(({ text, differs }, at) => (differs ? <mark key={`${at}`}>{text} </mark> : `${text} `))}
      </p>
      {interim.value === '' ? null : <p class="quiet">{interim.value}</p>}
      <dl class="pairs">
        <dt>State</dt>
        <dd>{state.value}</dd>
        <dt>Finals come after</dt>
        <dd>{delays.length === 0 ? '…' : `${Math.round(mean)} ms on average`}</dd>
        <dt>Cost</dt>
        <dd>{ended.value === undefined ? '…' : usd(ended.value.cost_usd)}</dd>
      </dl>
    </article>
  );
}
