import type { ComponentChildren } from 'preact';
import type { SessionAnswer } from '../../../api/usage.ts';
import { Badge } from '../../controls/notice.tsx';
import { Link } from '../../controls/page.tsx';
import { Table } from '../../controls/table.tsx';
import { Ago, Money, Named } from '../../controls/values.tsx';
import { length, reasonText, shortId } from '../../data/format.ts';
import { takenOverBy } from './taken-over.ts';

/** Sessions and files, each leading to its page. */
export function SessionTable({ sessions, empty }: { sessions: readonly SessionAnswer[]; empty?: ComponentChildren }) {
  return (
    <Table
      caption="Sessions"
      rows={sessions}
      idOf={({ id }) => id}
      empty={empty ?? <NoneYet />}
      columns={[
        {
          title: 'Session',
          cell: ({ id }) => (
            <Link to={`/sessions/${id}`}>
              <code title={id}>{shortId(id)}</code>
            </Link>
          ),
        },
        { title: 'Kind', cell: ({ mode }) => (mode === 'batch' ? 'file' : 'live') },
        { title: 'Model', cell: modelOf },
        { title: 'Key', cell: ({ key_id }) => <Named id={key_id} /> },
        { title: 'State', cell: stateOf },
        { title: 'Opened', cell: ({ opened_at }) => <Ago at={opened_at} /> },
        { title: 'Audio', isNumber: true, cell: ({ audio_seconds }) => length(audio_seconds) },
        { title: 'Cost', isNumber: true, cell: ({ cost_usd }) => <Money amount={cost_usd} /> },
      ]}
    />
  );
}

const NoneYet = () => (
  <p>
    No sessions yet. Speak in the <Link to="/playground">playground</Link>, or mint a <Link to="/keys">key</Link> and
    send a file.
  </p>
);

export function stateOf({ state, phase, reason, code }: SessionAnswer) {
  if (state === 'live') return <Badge tone="good">{phase ?? 'live'}</Badge>;
  return <Badge tone={code === null ? 'quiet' : 'bad'}>{reasonText(code ?? reason ?? 'ended')}</Badge>;
}

/** Each leads to the sessions that have it. */
export function TagLinks({ tags }: Pick<SessionAnswer, 'tags'>) {
  return (
    <span class="row">
      {Object.entries(tags ?? {}).map(([key, value]) => (
        <Link key={key} to={`/sessions?${new URLSearchParams({ tag: `${key}:${value}` })}`}>
          {key}: {value}
        </Link>
      ))}
    </span>
  );
}

function modelOf(session: SessionAnswer) {
  const other = takenOverBy(session);
  return (
    <div class="stack tight">
      <span>{session.model}</span>
      {other === undefined ? null : <Badge tone="warn">failover → {other}</Badge>}
      {session.tags === undefined ? null : <TagLinks tags={session.tags} />}
    </div>
  );
}
