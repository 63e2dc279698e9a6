// How the gateway did over the last hour or day, by model or node: delays, errors, failovers and what was under way.
import { useSignal } from '@preact/signals';
import { useMemo } from 'preact/hooks';
import type { HistoryFigures, HistorySeries, HistoryView } from '../../../api/console/history.ts';
import { type Line, Lines } from '../../charts/lines.tsx';
import { Notice } from '../../controls/notice.tsx';
import { Shown } from '../../controls/page.tsx';
import { Table } from '../../controls/table.tsx';
import { useAnswer } from '../../data/answer.ts';
import { percent, shortSeconds } from '../../data/format.ts';

const EVERY_MS = 15_000;
/** As many as there are colours. */
const SHOWN_MAX = 4;
const STEPS_MIN = 20;
const WINDOWS = [
  ['hour', 'Last hour'],
  ['day', 'Last day'],
] as const;
const GROUPS = [
  ['model', 'By model'],
  ['node', 'By node'],
] as const;

type Delay = 'first_word' | 'final' | 'file';
const DELAYS: readonly [Delay, string][] = [
  ['final', 'Final, from the end of speech'],
  ['first_word', 'First word, from when it is spoken'],
  ['file', 'Files, from request to transcript'],
];
const RATES = [
  ['error_rate', 'Errors, of all attempts'],
  ['failover_rate', 'Failovers, of all attempts'],
] as const;

export function Performance() {
  const window = useSignal<'hour' | 'day'>('hour');
  const by = useSignal<'model' | 'node'>('model');
  const answer = useAnswer<HistoryView>(`operator/history?window=${window.value}&by=${by.value}`, EVERY_MS);
  return (
    <section class="stack close">
      <div class="row apart">
        <h2>Performance</h2>
        <div class="row">
          <Either label="Grouped" choices={GROUPS} value={by.value} choose={(chosen) => (by.value = chosen)} />
          <Either label="Time" choices={WINDOWS} value={window.value} choose={(chosen) => (window.value = chosen)} />
        </div>
      </div>
      <Shown answer={answer}>{(view) => <Charts key={view.by} view={view} />}</Shown>
    </section>
  );
}

interface EitherProps<Choice extends string> {
  label: string;
  choices: readonly (readonly [Choice, string])[];
  value: Choice;
  choose(chosen: Choice): void;
}

const Either = <Choice extends string>({ label, choices, value, choose }: EitherProps<Choice>) => (
  <fieldset class="segments">
    <legend class="unseen">{label}</legend>
    {choices.map(([choice, text]) => (
      <button key={choice} type="button" aria-pressed={choice === value} onClick={() => choose(choice)}>
        {text}
      </button>
    ))}
  </fieldset>
);

function Charts({ view }: { view: HistoryView }) {
  const { silent, by } = view;
  const { series, times } = useMemo(() => sinceStart(view), [view]);
  const chosen = useSignal<readonly string[] | undefined>(undefined);
  const names = series.map(({ name }) => name);
  const shown = chosen.value ?? (names.length > 1 ? names.slice(1, SHOWN_MAX + 1) : names);
  const lines = useMemo(() => linesOf(series, shown), [series, shown.join()]);
  const toggle = (name: string) => {
    chosen.value = shown.includes(name) ? shown.filter((each) => each !== name) : [...shown, name].slice(-SHOWN_MAX);
  };
  return (
    <>
      {silent.length === 0 ? null : (
        <Notice tone="warn">
          <p>No answer from {silent.join(', ')}: these figures are without it.</p>
        </Notice>
      )}
      <div class="row">
        {names.map((name) => (
          <button
            key={name}
            type="button"
            class={`legend-chip colour-${shown.indexOf(name) + 1}`}
            aria-pressed={shown.includes(name)}
            onClick={() => toggle(name)}
          >
            {name === 'all' ? `All ${by}s` : name}
          </button>
        ))}
      </div>
      <p class="quiet small">Solid: 95th percentile. Dashed: median. A point is what was measured in its step.</p>
      <div class="charts">
        {DELAYS.map(([name, title]) => (
          <Lines key={name} title={title} times={times} lines={lines[name]} least={0.5} format={shortSeconds} />
        ))}
        {RATES.map(([name, title]) => (
          <Lines key={name} title={title} times={times} lines={lines[name]} least={0.1} format={percent} />
        ))}
        <Lines title="Concurrency" times={times} lines={lines.under_way} least={4} format={String} />
      </div>
      <Totals view={view} />
    </>
  );
}

/** Without the time before any node ran, but for a few steps. */
function sinceStart({ series, times }: HistoryView): Pick<HistoryView, 'series' | 'times'> {
  const first = series[0]?.points.findIndex((point) => point !== null) ?? 0;
  const from = Math.max(0, Math.min(first, times.length - STEPS_MIN));
  return {
    times: times.slice(from),
    series: series.map((each) => ({ ...each, points: each.points.slice(from) })),
  };
}

type Lined = Record<Delay | 'error_rate' | 'failover_rate' | 'under_way', Line[]>;

function linesOf(series: readonly HistorySeries[], shown: readonly string[]): Lined {
  const wanted = shown.flatMap((name, at) => {
    const found = series.find((each) => each.name === name);
    return found === undefined ? [] : [{ name, colour: at + 1, points: found.points }];
  });
  const plain = (name: 'error_rate' | 'failover_rate' | 'under_way') =>
    wanted.map(({ points, ...line }): Line => ({ ...line, values: points.map((point) => point?.[name] ?? null) }));
  const both = (name: Delay) =>
    wanted.flatMap(({ points, ...line }): Line[] => [
      { ...line, values: points.map((point) => point?.[name]?.[1] ?? null) },
      { ...line, isDashed: true, values: points.map((point) => point?.[name]?.[0] ?? null) },
    ]);
  return {
    first_word: both('first_word'),
    final: both('final'),
    file: both('file'),
    error_rate: plain('error_rate'),
    failover_rate: plain('failover_rate'),
    under_way: plain('under_way'),
  };
}

const pair = (figures: HistoryFigures, name: Delay): string =>
  figures[name]?.map((seconds) => shortSeconds(seconds)).join(' / ') ?? '–';
const rate = (share: number | undefined): string => (share === undefined ? '–' : percent(share));

const Totals = ({ view: { series, by, window } }: { view: HistoryView }) => (
  <Table
    caption={`The last ${window}, by ${by}`}
    rows={series}
    idOf={({ name }) => name}
    empty={<p>Nothing measured yet.</p>}
    columns={[
      { title: by === 'model' ? 'Model' : 'Node', cell: ({ name }) => (name === 'all' ? `All ${by}s` : name) },
      { title: 'Attempts', isNumber: true, cell: ({ total }) => total.attempts.toLocaleString('en-US') },
      { title: 'Errors', isNumber: true, cell: ({ total }) => rate(total.error_rate) },
      { title: 'Failovers', isNumber: true, cell: ({ total }) => rate(total.failover_rate) },
      { title: 'First word p50 / p95', isNumber: true, cell: ({ total }) => pair(total, 'first_word') },
      { title: 'Final p50 / p95', isNumber: true, cell: ({ total }) => pair(total, 'final') },
      { title: 'File p50 / p95', isNumber: true, cell: ({ total }) => pair(total, 'file') },
      { title: 'Most at once', isNumber: true, cell: ({ total }) => total.under_way },
    ]}
  />
);
