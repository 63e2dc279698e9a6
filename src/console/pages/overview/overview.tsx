// What matters today: what needs attention, money, use, what is live, how the providers are, and what failed over.
import type { Overview as OverviewAnswer } from '../../../api/console/overview.ts';
import type { SessionList, UsageList } from '../../../api/usage.ts';
import { Figure } from '../../controls/figure.tsx';
import { Link } from '../../controls/link.tsx';
import { Page, Shown } from '../../controls/page.tsx';
import { Money } from '../../controls/values/money.tsx';
import { useAnswer } from '../../data/answer.ts';
import { length } from '../../data/format.ts';
import { SessionTable } from '../sessions/session-table.tsx';
import { Credit } from './credit.tsx';
import { Failovers } from './failovers.tsx';
import { FirstSteps } from './first-steps.tsx';
import { Health } from './health.tsx';
import { LatestDays } from './latest-days.tsx';
import { Warnings } from './warnings.tsx';

const EVERY_MS = 15_000;

export function Overview() {
  const today = new Date().toISOString().slice(0, 10);
  const overview = useAnswer<OverviewAnswer>('overview', EVERY_MS);
  const usage = useAnswer<UsageList>(`usage?from=${today}&group_by=model`, EVERY_MS);
  const sessions = useAnswer<SessionList>('sessions?limit=5', EVERY_MS);
  return (
    <Page title="Overview" about="Today by UTC, and work in progress.">
      <Warnings creditIsLow={overview.value?.credit_is_low === true} />
      <FirstSteps />
      <dl class="figures">
        <Credit />
        <Figure title="Cost today" value={usage.value && <Money amount={usage.value.total.cost_usd} />} />
        <Figure title="Audio today" value={usage.value && length(usage.value.total.audio_seconds)} />
        <Figure title="Live now" value={overview.value && String(overview.value.live_sessions)} note="Over all nodes" />
        <Figure
          title="Failovers today"
          value={overview.value && String(overview.value.failovers.count)}
          note="Of sessions that have ended"
        />
      </dl>
      <LatestDays />
      <div class="columns">
        <Health failovers={overview.value?.failovers} />
        <Failovers of={overview} />
      </div>
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
