// Live sessions and files of the organisation, newest first; one is found by its id.
import { useSignal } from '@preact/signals';
import type { SessionAnswer, SessionList } from '../../../api/usage.ts';
import { Link } from '../../controls/link.tsx';
import { Badge } from '../../controls/notice.tsx';
import { Page, Shown } from '../../controls/page.tsx';
import { Table } from '../../controls/table.tsx';
import { useAnswer } from '../../data/answer.ts';
import { ago, length, time, usd } from '../../data/format.ts';
import { go } from '../../data/location.ts';

const EVERY_MS = 5_000;

export function Sessions() {
  const before = useSignal<string | undefined>(undefined);
  const show = useSignal<'all' | 'live' | 'ended'>('all');
  const sessions = useAnswer<SessionList>(
    `sessions?limit=50${before.value === undefined ? '' : `&before=${before.value}`}`,
    before.value === undefined ? EVERY_MS : undefined,
  );
  return (
    <Page title="Sessions" about="Every live session and file, on whichever node it is.">
      <form
        class="row"
        onSubmit={(event) => {
          event.preventDefault();
          const id = String(new FormData(event.currentTarget).get('id')).trim();
          if (id !== '') go(`/console/sessions/${encodeURIComponent(id)}`);
        }}
      >
        <label class="field">
          Find by id
          <input name="id" type="search" placeholder="ses_… or req_…" />
        </label>
        <label class="field">
          Show
          <select
            value={show.value}
            onChange={(event) => (show.value = event.currentTarget.value as typeof show.value)}
          >
            <option value="all">all</option>
            <option value="live">live</option>
            <option value="ended">ended</option>
          </select>
        </label>
      </form>
      <Shown answer={sessions}>
        {({ data, has_more }) => (
          <>
            <SessionTable sessions={data.filter(({ state }) => show.value === 'all' || state === show.value)} />
            <div class="row">
              {before.value === undefined ? null : (
                <button type="button" onClick={() => (before.value = undefined)}>
                  Newest
                </button>
              )}
              {has_more ? (
                <button type="button" onClick={() => (before.value = data.at(-1)?.id)}>
                  Older
                </button>
              ) : null}
            </div>
          </>
        )}
      </Shown>
    </Page>
  );
}

function SessionTable({ sessions }: { sessions: readonly SessionAnswer[] }) {
  return (
    <Table
      caption="Sessions"
      rows={sessions}
      idOf={({ id }) => id}
      empty={<p>None here. Speak in the playground, or send a file with a key.</p>}
      columns={[
        {
          title: 'Session',
          cell: ({ id }) => (
            <Link to={`/console/sessions/${id}`}>
              <code>{id}</code>
            </Link>
          ),
        },
        { title: 'Mode', cell: ({ mode }) => mode },
        { title: 'Model', cell: ({ model }) => model },
        { title: 'State', cell: stateOf },
        { title: 'Opened', cell: ({ opened_at }) => <span title={time(opened_at)}>{ago(opened_at)}</span> },
        { title: 'Audio', isNumber: true, cell: ({ audio_seconds }) => length(audio_seconds) },
        { title: 'Cost', isNumber: true, cell: ({ cost_usd }) => usd(cost_usd) },
      ]}
    />
  );
}

export function stateOf({ state, phase, reason, code }: SessionAnswer) {
  if (state === 'live') return <Badge tone="good">{phase ?? 'live'}</Badge>;
  return <Badge tone={code === null ? 'quiet' : 'bad'}>{code ?? reason ?? 'ended'}</Badge>;
}
