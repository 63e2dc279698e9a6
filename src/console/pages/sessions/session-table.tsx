import type { ComponentChildren } from 'preact';
import type { SessionAnswer } from '../../../api/usage.ts';
import { Link } from '../../controls/link.tsx';
import { Badge } from '../../controls/notice.tsx';
import { Table } from '../../controls/table.tsx';
import { ago, length, shortId, time, usd } from '../../data/format.ts';

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
        { title: 'Mode', cell: ({ mode }) => mode },
        { title: 'Model', cell: ({ model }) => <span>{model}</span> },
        { title: 'State', cell: stateOf },
        { title: 'Opened', cell: ({ opened_at }) => <span title={time(opened_at)}>{ago(opened_at)}</span> },
        { title: 'Audio', isNumber: true, cell: ({ audio_seconds }) => length(audio_seconds) },
        { title: 'Cost', isNumber: true, cell: ({ cost_usd }) => usd(cost_usd) },
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
  return <Badge tone={code === null ? 'quiet' : 'bad'}>{code ?? reason ?? 'ended'}</Badge>;
}
