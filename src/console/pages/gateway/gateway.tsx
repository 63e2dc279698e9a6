// For whoever runs the gateway: how it performs, its nodes, and the live sessions of all organisations on them.
import type { TargetedEvent } from 'preact';
import type { GatewayNodeView, GatewaySessionView, GatewayView } from '../../../api/console/console.ts';
import { Link } from '../../controls/link.tsx';
import { Badge } from '../../controls/notice.tsx';
import { Page, Shown } from '../../controls/page.tsx';
import { Table } from '../../controls/table.tsx';
import { Named } from '../../controls/values/named.tsx';
import { useAnswer } from '../../data/answer.ts';
import { ago, shortId, time } from '../../data/format.ts';
import { ask, query } from '../../data/location.ts';
import { person } from '../../data/person.ts';
import { Performance } from './performance.tsx';

const EVERY_MS = 5_000;
const FIELDS = [
  ['id', 'Id, or how it begins', 'ses_…'],
  ['organisation', 'Organisation', 'name or org_…'],
  ['model', 'Model or provider', 'any'],
] as const;

export function Gateway() {
  const said = new URLSearchParams(query.value);
  const wanted = new URLSearchParams([...said].filter(([name]) => FIELDS.some(([known]) => known === name)));
  const answer = useAnswer<GatewayView>(`operator/sessions?${wanted}`, EVERY_MS);
  return (
    <Page title="Gateway" about="How it performs, its nodes, and the live sessions of all organisations.">
      <Performance />
      <Shown answer={answer}>
        {({ nodes, matched, data }) => (
          <>
            <h2>Nodes</h2>
            <Nodes nodes={nodes} />
            <h2>Live sessions</h2>
            <Search wanted={wanted} />
            <p class="quiet">
              {data.length < matched
                ? `The newest ${data.length} of ${matched}. Ask for fewer to find the others.`
                : `${matched} ${matched === 1 ? 'session' : 'sessions'}${wanted.size === 0 ? '' : ' like this'}.`}
            </p>
            <Sessions sessions={data} isAll={wanted.size === 0} />
          </>
        )}
      </Shown>
    </Page>
  );
}

function Search({ wanted }: { wanted: URLSearchParams }) {
  const choose = ({ currentTarget: form }: TargetedEvent<HTMLFormElement>) => {
    const values = [...new FormData(form)].map(([name, value]) => [name, String(value).trim()]);
    ask(new URLSearchParams(values.filter(([, value]) => value !== '')));
  };
  return (
    <search>
      <form
        class="narrow"
        onChange={choose}
        onSubmit={(event) => {
          event.preventDefault();
          choose(event);
        }}
      >
        {FIELDS.map(([name, label, placeholder]) => (
          <label key={name} class="field">
            {label}
            <input
              key={wanted.toString()}
              name={name}
              type="search"
              defaultValue={wanted.get(name) ?? ''}
              placeholder={placeholder}
              maxLength={200}
            />
          </label>
        ))}
      </form>
    </search>
  );
}

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

/** Only those of the reader's own organisation lead to a page: a session's page belongs to its organisation. */
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
        cell: ({ model, heard_by: by }) => (by === null || by === model ? model : `${model}, now ${by}`),
      },
      { title: 'Node', cell: ({ node }) => <code>{node}</code> },
      { title: 'State', cell: ({ state }) => <Badge tone="good">{state}</Badge> },
      { title: 'Opened', cell: ({ opened_at: at }) => <span title={time(at)}>{ago(at)}</span> },
    ]}
  />
);
