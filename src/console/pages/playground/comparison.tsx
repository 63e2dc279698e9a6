// The same audio, heard by several models: text with what differs from a chosen one, delay, price and cost. One that is refused stands
// for itself.
import { useSignal } from '@preact/signals';
import type { Model } from '../../../api/models.ts';
import { Badge, Failure } from '../../controls/notice.tsx';
import { usd } from '../../data/format.ts';
import { costOf, medianOf, ms } from './delays.tsx';
import { differences } from './differences.ts';
import type { Run } from './run/run.ts';
import { toneOf, Warnings } from './run/warnings.tsx';
import { Timeline } from './timeline.tsx';

const textOf = ({ finals }: Run): string => finals.value.map(({ text }) => text).join(' ');

export function Comparison({ runs, models }: { runs: readonly Run[]; models: readonly Model[] }) {
  const chosen = useSignal(0);
  const reference = runs[chosen.value];
  return (
    <section class="card">
      <div class="row apart">
        <h2>Beside each other</h2>
        <label class="row small">
          Differences from
          <select value={chosen.value} onChange={(event) => (chosen.value = Number(event.currentTarget.value))}>
            {runs.map(({ asked }, at) => (
              <option key={asked.model} value={at}>
                {asked.model}
              </option>
            ))}
          </select>
        </label>
      </div>
      {reference === undefined ? null : <Timeline key={reference.asked.model} run={reference} />}
      <div class="columns compared">
        {runs.map((run) => (
          <Heard
            key={run.asked.model}
            run={run}
            price={priceOf(models.find(({ id }) => id === run.asked.model))}
            reference={reference === undefined || run === reference ? undefined : textOf(reference)}
          />
        ))}
      </div>
    </section>
  );
}

function priceOf(model: Model | undefined): string {
  const price = model?.pricing.live;
  if (price === undefined) return 'not known';
  return price.free === true ? 'free' : `${usd(price.amount)} a ${price.unit}`;
}

interface HeardProps {
  run: Run;
  price: string;
  reference: string | undefined;
}

function Heard({ run, price, reference }: HeardProps) {
  const { asked, finals, interim, failure, state, sessionId } = run;
  const words = reference === undefined ? undefined : differences(textOf(run), reference);
  const differing = words?.filter(({ differs }) => differs).length;
  const delay = ms(medianOf(finals.value.map(({ delayMs }) => delayMs)));
  const gateway = ms(medianOf(run.figures.value?.gatewayMs.value ?? []));
  return (
    <article>
      <div class="row apart">
        <h3>
          <code>{asked.model}</code>
        </h3>
        <Badge tone={toneOf(run)}>{failure.value === undefined ? state.value : 'refused'}</Badge>
      </div>
      <Failure of={failure.value} />
      <Warnings run={run} />
      {failure.value !== undefined && finals.value.length === 0 ? null : (
        <div class="transcript">
          <p>
            {words === undefined
              ? textOf(run)
              : words.map(({ text, differs }, at) => (differs ? <mark key={`${at}`}>{text} </mark> : `${text} `))}{' '}
            {interim.value === undefined ? null : <span class="interim">{interim.value.text}</span>}
          </p>
        </div>
      )}
      <dl class="pairs small">
        <dt>Words that differ</dt>
        <dd>{differing ?? 'none: it is the one chosen'}</dd>
        <dt>Finals come after</dt>
        <dd>
          {delay === undefined ? '…' : `${delay}${gateway === undefined ? '' : `, ${gateway} of it in the gateway`}`}
        </dd>
        <dt>Price</dt>
        <dd>{price}</dd>
        <dt>{run.ended.value === undefined ? 'Cost so far' : 'Cost'}</dt>
        <dd>{costOf(run) ?? '…'}</dd>
      </dl>
      {sessionId.value === undefined ? null : (
        <a class="small" href={`/sessions/${sessionId.value}`} target="_blank" rel="noreferrer">
          Its session
        </a>
      )}
    </article>
  );
}
