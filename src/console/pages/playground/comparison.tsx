// The same audio, transcribed by several models: the text with its differences from a chosen one, delay, price and cost. A model that fails
// shows its own error.
import { useSignal } from '@preact/signals';
import type { Model } from '../../../api/models.ts';
import { Badge, Failure } from '../../controls/notice.tsx';
import { usd } from '../../data/format.ts';
import type { Run } from './run.ts';
import { Timeline } from './timeline.tsx';
import { costOf, medianOf, ms, toneOf, Warnings } from './transcription.tsx';

const textOf = ({ finals }: Run): string => finals.value.map(({ text }) => text).join(' ');

export function Comparison({ runs, models }: { runs: readonly Run[]; models: readonly Model[] }) {
  const chosen = useSignal(0);
  const reference = runs[chosen.value];
  return (
    <section class="card">
      <div class="row apart">
        <h2>Comparison</h2>
        <label class="row small">
          Differences from
          <select value={chosen.value} onChange={(event) => (chosen.value = Number(event.currentTarget.value))}>
            {runs.map(({ request }, at) => (
              <option key={request.model} value={at}>
                {request.model}
              </option>
            ))}
          </select>
        </label>
      </div>
      {reference === undefined ? null : <Timeline key={reference.request.model} run={reference} />}
      <div class="columns compared">
        {runs.map((run) => (
          <Compared
            key={run.request.model}
            run={run}
            price={priceOf(models.find(({ id }) => id === run.request.model))}
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

interface Word {
  text: string;
  differs: boolean;
}

interface ComparedProps {
  run: Run;
  price: string;
  reference: string | undefined;
}

function Compared({ run, price, reference }: ComparedProps) {
  const { request, finals, interim, failure, state, sessionId } = run;
  const words = reference === undefined ? undefined : differences(textOf(run), reference);
  const differing = words?.filter(({ differs }) => differs).length;
  const delay = ms(medianOf(finals.value.map(({ delayMs }) => delayMs)));
  const gateway = ms(medianOf(run.figures.value?.gatewayMs.value ?? []));
  return (
    <article>
      <div class="row apart">
        <h3>
          <code>{request.model}</code>
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

/** Longer texts are not compared: the table would be too large. */
const WORDS_MAX = 2_000;

/** The words of a text, and which of them a reference does not have at that place: the longest common sequence is not marked. */
function differences(text: string, reference: string): Word[] {
  const [own, other] = [wordsOf(text), wordsOf(reference)];
  if (own.length > WORDS_MAX || other.length > WORDS_MAX) return own.map((word) => ({ text: word, differs: false }));
  const [ownPlain, otherPlain] = [own.map(plain), other.map(plain)];
  /** How many words are in common from here on. */
  const common = Array.from({ length: own.length + 1 }, () => new Uint16Array(other.length + 1));
  const at = (row: number, column: number) => common[row]?.[column] ?? 0;
  for (let row = own.length - 1; row >= 0; row--) {
    for (let column = other.length - 1; column >= 0; column--) {
      const isSame = ownPlain[row] === otherPlain[column];
      (common[row] as Uint16Array)[column] = isSame
        ? at(row + 1, column + 1) + 1
        : Math.max(at(row + 1, column), at(row, column + 1));
    }
  }
  const words: Word[] = [];
  for (let [row, column] = [0, 0]; row < own.length; ) {
    if (ownPlain[row] === otherPlain[column]) {
      words.push({ text: own[row] as string, differs: false });
      row++;
      column++;
    } else if (column < other.length && at(row, column + 1) >= at(row + 1, column)) column++;
    else {
      words.push({ text: own[row] as string, differs: true });
      row++;
    }
  }
  return words;
}

const wordsOf = (text: string): string[] => text.split(/\s+/).filter((word) => word !== '');

/** Case and punctuation are no difference in words. */
const plain = (word: string): string => word.toLowerCase().replaceAll(/[^\p{L}\p{N}]/gu, '');
