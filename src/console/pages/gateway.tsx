// For the operator: how the gateway performs, its nodes, and the live sessions of all organisations.
import { useSignal } from '@preact/signals';
import { useMemo } from 'preact/hooks';
import type { GatewayNodeView, GatewaySessionView, GatewayView } from '../../api/console/console.ts';
import type { HistoryFigures, HistorySeries, HistoryView } from '../../api/console/gateway.ts';
import { FilterForm } from '../controls/form.tsx';
import { Badge, Notice } from '../controls/notice.tsx';
import { Link, Loaded, Page } from '../controls/page.tsx';
import { type Line, Lines } from '../controls/plots.tsx';
import { Table } from '../controls/table.tsx';
import { Ago, Named } from '../controls/values.tsx';
import { useAnswer } from '../data/api.ts';
import { percent, shortId, shortSeconds } from '../data/format.ts';
import { query, setQuery } from '../data/location.ts';
import { person } from '../data/organisation.ts';

const SESSIONS_EVERY_MS = 5_000;
const FILTERS = [
  ['id', 'Id, or how it begins', 'ses_…'],
  ['organisation', 'Organisation', 'name or org_…'],
  ['model', 'Model or provider', 'any'],
] as const;

export function Gateway() {
  const params = new URLSearchParams(query.value);
  const filter = new URLSearchParams([...params].filter(([name]) => FILTERS.some(([known]) => known === name)));
  const answer = useAnswer<GatewayView>(`operator/sessions?${filter}`, SESSIONS_EVERY_MS);
  return (
    <Page title="Gateway" about="How it performs, its nodes, and the live sessions of all organisations.">
      <Performance />
      <Loaded answer={answer}>
        {({ nodes, matched, data }) => (
          <>
            <h2>Nodes</h2>
            <Nodes nodes={nodes} />
            <h2>Live sessions</h2>
            <Search filter={filter} />
            <p class="quiet">
              {data.length < matched
                ? `The newest ${data.length} of ${matched}. Ask for fewer to find the others.`
                : `${matched} ${matched === 1 ? 'session' : 'sessions'}${filter.size === 0 ? '' : ' like this'}.`}
            </p>
            <Sessions sessions={data} isAll={filter.size === 0} />
          </>
        )}
      </Loaded>
    </Page>
  );
}

const Search = ({ filter }: { filter: URLSearchParams }) => (
  <search>
    <FilterForm filter={filter} choose={setQuery}>
      {FILTERS.map(([name, label, placeholder]) => (
        <label key={name} class="field">
          {label}
          <input
            name={name}
            type="search"
            defaultValue={filter.get(name) ?? ''}
            placeholder={placeholder}
            maxLength={200}
          />
        </label>
      ))}
    </FilterForm>
  </search>
);

const TONES = { serving: 'good', draining: 'busy', silent: 'warn' } as const;

const Nodes = ({ nodes }: { nodes: readonly GatewayNodeView[] }) => (
  <Table
    caption="Nodes"
    rows={nodes}
    idOf={({ node }) => node}
    empty={<p>No node is known.</p>}
    columns={[
      { title: 'Node', cell: ({ id, node }) => <Named id={node} name={id} /> },
      { title: 'State', cell: ({ state }) => <Badge tone={TONES[state]}>{state}</Badge> },
      { title: 'Roles', cell: ({ roles }) => roles.join(', ') },
      {
        title: 'Sessions',
        isNumber: true,
        cell: ({ sessions, sessions_max: most }) =>
          most === null ? sessions : `${sessions} of ${most.toLocaleString('en-US')}`,
      },
      { title: 'Connections to providers', isNumber: true, cell: ({ legs }) => legs },
      {
        title: 'Load',
        isNumber: true,
        cell: ({ sessions, sessions_max: most }) => (most === null ? '' : `${Math.round((sessions / most) * 100)} %`),
      },
    ]}
  />
);

/** Only sessions of the user's own organisation link to their page. */
const Sessions = ({ sessions, isAll }: { sessions: readonly GatewaySessionView[]; isAll: boolean }) => (
  <Table
    caption="Live sessions"
    rows={sessions}
    idOf={({ id }) => id}
    empty={<p>{isAll ? 'No live sessions.' : 'No live sessions match this filter.'}</p>}
    columns={[
      {
        title: 'Session',
        cell: ({ id, organisation }) => {
          const short = <code title={id}>{shortId(id)}</code>;
          return organisation.id === person.value?.organisation.id ? (
            <Link to={`/sessions/${id}`}>{short}</Link>
          ) : (
            short
          );
        },
      },
      {
        title: 'Organisation',
        cell: ({ organisation: { id, name } }) => <Named id={id} name={name} />,
      },
      {
        title: 'Model',
        cell: ({ model, heard_by: now }) => (now === null || now === model ? model : `${model}, now ${now}`),
      },
      { title: 'Node', cell: ({ node }) => <code>{node}</code> },
      { title: 'State', cell: ({ state }) => <Badge tone="good">{state}</Badge> },
      { title: 'Opened', cell: ({ opened_at: at }) => <Ago at={at} /> },
    ]}
  />
);

const HISTORY_EVERY_MS = 15_000;
/** One for each colour. */
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

/** The last hour or day by model or node: delays, errors, failovers and concurrency. */
function Performance() {
  const window = useSignal<'hour' | 'day'>('hour');
  const by = useSignal<'model' | 'node'>('model');
  const answer = useAnswer<HistoryView>(`operator/history?window=${window.value}&by=${by.value}`, HISTORY_EVERY_MS);
  return (
    <section class="stack close">
      <div class="row apart">
        <h2>Performance</h2>
        <div class="row">
          <Either label="Grouped" choices={GROUPS} value={by.value} choose={(chosen) => (by.value = chosen)} />
          <Either label="Time" choices={WINDOWS} value={window.value} choose={(chosen) => (window.value = chosen)} />
        </div>
      </div>
      <Loaded answer={answer}>{(view) => <Charts key={view.by} view={view} />}</Loaded>
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

/** Leaves out all but a few steps of the time before any node ran. */
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
