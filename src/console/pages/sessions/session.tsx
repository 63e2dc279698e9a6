// One session: what it was and cost. While it is live, what it does is watched.
import type { SessionAnswer } from '../../../api/usage.ts';
import { Page, Shown } from '../../controls/page.tsx';
import { Table } from '../../controls/table.tsx';
import { useAnswer } from '../../data/answer.ts';
import { length, time, usd } from '../../data/format.ts';
import { Live } from './live.tsx';
import { stateOf } from './session-table.tsx';

const EVERY_MS = 2_000;

export function Session({ members: { id = '' } }: { members: Record<string, string> }) {
  const session = useAnswer<SessionAnswer>(`sessions/${encodeURIComponent(id)}`, EVERY_MS);
  return (
    <Page title="Session" about={<code>{id}</code>}>
      <Shown answer={session}>
        {(record) => (
          <>
            {record.mode === 'live' ? <Live id={record.id} /> : null}
            <Facts session={record} />
            <Table
              caption="Use, by model"
              rows={record.usage.map((row, at) => ({ ...row, at }))}
              idOf={({ at }) => String(at)}
              empty={<p>Nothing was settled yet.</p>}
              columns={[
                { title: 'Model', cell: ({ model }) => <span>{model}</span> },
                { title: 'On', cell: ({ byok }) => <span>{byok ? 'your own key' : 'the service’s key'}</span> },
                { title: 'Audio', isNumber: true, cell: ({ seconds }) => length(seconds) },
                { title: 'Cost', isNumber: true, cell: ({ cost_usd }) => usd(cost_usd) },
              ]}
            />
            {record.legs === undefined ? null : (
              <Table
                caption="Connections"
                rows={record.legs.map((leg, at) => ({ ...leg, at }))}
                idOf={({ at }) => String(at)}
                empty={<p>None.</p>}
                columns={[
                  { title: 'Connection', cell: ({ at }) => at + 1 },
                  { title: 'Model', cell: ({ model }) => model },
                  { title: 'State', cell: ({ state }) => state },
                ]}
              />
            )}
          </>
        )}
      </Shown>
    </Page>
  );
}

function Facts({ session }: { session: SessionAnswer }) {
  const { mode, model, key_id, opened_at, ended_at, audio_seconds, cost_usd, held_usd, turns, failovers } = session;
  return (
    <section class="card">
      <dl class="pairs">
        <dt>State</dt>
        <dd>{stateOf(session)}</dd>
        <dt>Mode</dt>
        <dd>{mode}</dd>
        <dt>Model asked for</dt>
        <dd>{model}</dd>
        <dt>Opened by</dt>
        <dd>
          <code>{key_id}</code>
        </dd>
        <dt>Opened</dt>
        <dd>{time(opened_at)}</dd>
        {ended_at === null ? null : (
          <>
            <dt>Ended</dt>
            <dd>{time(ended_at)}</dd>
          </>
        )}
        <dt>Audio</dt>
        <dd>{length(audio_seconds)}</dd>
        {turns === undefined ? null : (
          <>
            <dt>Turns</dt>
            <dd>{turns}</dd>
          </>
        )}
        {failovers === undefined ? null : (
          <>
            <dt>Failovers</dt>
            <dd>{failovers}</dd>
          </>
        )}
        <dt>Cost</dt>
        <dd>
          {usd(cost_usd)}
          {ended_at === null ? `, and ${usd(held_usd)} held` : ''}
        </dd>
      </dl>
    </section>
  );
}
