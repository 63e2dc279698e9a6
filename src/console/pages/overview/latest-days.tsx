// What the last two weeks have cost, day by day; the figures are on the page of usage.
import type { UsageList } from '../../../api/usage.ts';
import { Link } from '../../controls/link.tsx';
import { useAnswer } from '../../data/answer.ts';
import { usd } from '../../data/format.ts';
import { Bars } from '../usage/bars.tsx';

const DAYS = 14;
const DAY_MS = 86_400_000;

export function LatestDays() {
  const dates = Array.from({ length: DAYS }, (_, at) =>
    new Date(Date.now() - (DAYS - 1 - at) * DAY_MS).toISOString().slice(0, 10),
  );
  const usage = useAnswer<UsageList>(`usage?from=${dates[0]}&group_by=day`);
  if (usage.value === undefined || usage.value.data.length === 0) return null;
  const { data, total } = usage.value;
  const days = dates.map((date) => ({
    date,
    usd: data.filter(({ group }) => group === date).reduce((sum, { cost_usd }) => sum + Number(cost_usd), 0),
  }));
  return (
    <section class="card">
      <div class="row apart">
        <h2>The last {DAYS} days</h2>
        <span class="row">
          <span class="quiet">{usd(total.cost_usd)} in all</span>
          <Link to="/usage">Usage and bills</Link>
        </span>
      </div>
      <Bars label="Cost of each day" days={days} />
    </section>
  );
}
