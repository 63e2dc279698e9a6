// What matters today: money, use, what is live, and how the providers are.
import type { SessionList, UsageList } from '../../../api/usage.ts';
import { Figure } from '../../controls/figure.tsx';
import { Link } from '../../controls/link.tsx';
import { Page, Shown } from '../../controls/page.tsx';
import { useAnswer } from '../../data/answer.ts';
import { length, usd } from '../../data/format.ts';
import { SessionTable } from '../sessions/session-table.tsx';
import { Credit } from './credit.tsx';

const EVERY_MS = 15_000;

export function Overview() {
  const today = new Date().toISOString().slice(0, 10);
  const usage = useAnswer<UsageList>(`usage?from=${today}&group_by=model`, EVERY_MS);
  const sessions = useAnswer<SessionList>('sessions?limit=10', EVERY_MS);
  return (
    <Page title="Overview" about="Today by UTC, and what is under way.">
      <dl class="figures">
        <Credit />
        <Figure title="Cost today" value={usage.value && usd(usage.value.total.cost_usd)} />
        <Figure title="Audio today" value={usage.value && length(usage.value.total.audio_seconds)} />
        <Figure
          title="Live now"
          value={sessions.value && String(sessions.value.data.filter(({ state }) => state === 'live').length)}
          note="Of the newest ten sessions"
        />
      </dl>
      <section class="stack close">
        <div class="row apart">
          <h2>Newest sessions</h2>
          <Link to="/sessions">All sessions</Link>
        </div>
        <Shown answer={sessions}>{({ data }) => <SessionTable sessions={data} />}</Shown>
      </section>
    </Page>
  );
}
