// One session: what it was and cost. While it is live, what it does is watched.
import type { ComponentChildren } from 'preact';
import type { SessionAnswer } from '../../../api/usage.ts';
import { Badge } from '../../controls/notice.tsx';
import { Loaded, Page } from '../../controls/page.tsx';
import { Table } from '../../controls/table.tsx';
import { Money, Named } from '../../controls/values.tsx';
import { useAnswer } from '../../data/api.ts';
import { ago, length, reasonText, time } from '../../data/format.ts';
import { Live } from './live.tsx';
import { stateOf, TagLinks } from './session-table.tsx';
import { takenOverBy } from './taken-over.ts';

const EVERY_MS = 2_000;

export function Session({ params: { id = '' } }: { params: Record<string, string> }) {
  const session = useAnswer<SessionAnswer>(`sessions/${encodeURIComponent(id)}`, EVERY_MS);
  return (
    <Page title="Session" about={<code>{id}</code>}>
      <Loaded answer={session}>
        {(record) => (
          <>
            <Summary session={record} />
            {record.mode === 'live' ? <Live id={record.id} isOver={record.ended_at !== null} /> : null}
            <Table
              caption="Use, by model"
              rows={record.usage.map((row, at) => ({ ...row, at }))}
              idOf={({ at }) => String(at)}
              empty={<p>No usage recorded yet.</p>}
              columns={[
                { title: 'Model', cell: ({ model }) => <span>{model}</span> },
                { title: 'On', cell: ({ byok }) => <span>{byok ? 'your own key' : 'the service’s key'}</span> },
                { title: 'Audio', isNumber: true, cell: ({ seconds }) => length(seconds) },
                { title: 'Cost', isNumber: true, cell: ({ cost_usd }) => <Money amount={cost_usd} /> },
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
                  { title: 'State', cell: ({ state }) => reasonText(state) },
                ]}
              />
            )}
          </>
        )}
      </Loaded>
    </Page>
  );
}

/** What matters first: how it is or how it ended, by which model, how much and for what price. */
function Summary({ session }: { session: SessionAnswer }) {
  const { mode, model, key_id, opened_at, ended_at, audio_seconds, cost_usd, turns, failovers, tags } = session;
  const other = takenOverBy(session);
  return (
    <section class="card summary">
      <div class="row">
        {stateOf(session)}
        <strong>{model}</strong>
        {other === undefined ? null : <Badge tone="warn">failover → {other}</Badge>}
      </div>
      <dl class="facts">
        {/* The figures of a live session are below, by the second: the ledger learns of them only when a hold is renewed. */}
        {mode === 'live' && ended_at === null ? null : (
          <>
            <Fact title="Audio">{length(audio_seconds)}</Fact>
            <Fact title={ended_at === null ? 'Cost so far' : 'Cost'}>
              <Money amount={cost_usd} />
            </Fact>
          </>
        )}
        {ended_at === null ? null : (
          <Fact title="Lasted">{length((Date.parse(ended_at) - Date.parse(opened_at)) / 1000)}</Fact>
        )}
        {turns === undefined ? null : <Fact title="Turns">{turns}</Fact>}
        {failovers === undefined ? null : <Fact title="Failovers">{failovers}</Fact>}
        <Fact title="Kind">{mode === 'batch' ? 'file' : 'live'}</Fact>
        <Fact title="Opened">
          <span title={ago(opened_at)}>{time(opened_at)}</span>
        </Fact>
        <Fact title="Key">
          <Named id={key_id} />
        </Fact>
        {tags === undefined ? null : (
          <Fact title="Tags">
            <TagLinks tags={tags} />
          </Fact>
        )}
      </dl>
    </section>
  );
}

const Fact = ({ title, children }: { title: string; children: ComponentChildren }) => (
  <div>
    <dt>{title}</dt>
    <dd>{children}</dd>
  </div>
);
