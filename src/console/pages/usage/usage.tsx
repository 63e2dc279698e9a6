// What was used and what it cost, by day, provider, model and key; and the bills of the months.
import { useSignal } from '@preact/signals';
import type { UsageList } from '../../../api/usage.ts';
import { Page, Shown } from '../../controls/page.tsx';
import { Table } from '../../controls/table.tsx';
import { Money } from '../../controls/values/money.tsx';
import { Named } from '../../controls/values/named.tsx';
import { useAnswer } from '../../data/answer.ts';
import { length } from '../../data/format.ts';
import { Bars } from './bars.tsx';
import { Bill } from './bill.tsx';
import { daysOf } from './days.ts';

const GROUPS = { day: 'Day', provider: 'Provider', model: 'Model', key: 'Key' } as const;
type Group = keyof typeof GROUPS;

const monthOf = (date: Date) => date.toISOString().slice(0, 7);
/** The last twelve, newest first. */
const months = () => {
  const now = new Date();
  return Array.from({ length: 12 }, (_, back) =>
    monthOf(new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - back))),
  );
};

export function Usage() {
  const month = useSignal(monthOf(new Date()));
  const group = useSignal<Group>('model');
  const stretch = `from=${month.value}-01&to=${nextMonth(month.value)}`;
  const byDay = useAnswer<UsageList>(`usage?${stretch}&group_by=day`);
  const usage = useAnswer<UsageList>(`usage?${stretch}&group_by=${group.value}`);
  return (
    <Page
      title="Usage and bills"
      about="One bill across all providers, by UTC. What ran on your own provider keys costs $0.00 here."
      actions={
        <label class="field">
          <span class="unseen">Month</span>
          <select value={month.value} onChange={(event) => (month.value = event.currentTarget.value)}>
            {months().map((each) => (
              <option key={each}>{each}</option>
            ))}
          </select>
        </label>
      }
    >
      <Shown answer={byDay}>
        {({ data, total }) => (
          <section class="card">
            <div class="row apart">
              <h2>
                <Money amount={total.cost_usd} />
              </h2>
              <span class="quiet">{length(total.audio_seconds)} of audio</span>
            </div>
            <Bars label="Cost by day, USD; the figures are in the table below" days={daysOf(month.value, data)} />
          </section>
        )}
      </Shown>
      <section class="stack close">
        <div class="row apart">
          <h2>Usage</h2>
          <label class="row">
            By
            <select value={group.value} onChange={(event) => (group.value = event.currentTarget.value as Group)}>
              {Object.entries(GROUPS).map(([name, title]) => (
                <option key={name} value={name}>
                  {title.toLowerCase()}
                </option>
              ))}
            </select>
          </label>
        </div>
        <Shown answer={usage}>
          {({ data }) => (
            <Table
              caption="Usage"
              rows={data}
              idOf={({ group: name, byok }) => `${name} ${byok}`}
              empty={<p>Nothing was used in this month.</p>}
              columns={[
                {
                  title: GROUPS[group.value],
                  cell: ({ group: name }) => (group.value === 'key' ? <Named id={name} /> : <span>{name}</span>),
                },
                { title: 'On', cell: ({ byok }) => <span>{byok ? 'your own key' : 'the service’s key'}</span> },
                { title: 'Sessions and files', isNumber: true, cell: ({ sessions }) => sessions },
                { title: 'Audio', isNumber: true, cell: ({ audio_seconds }) => length(audio_seconds) },
                { title: 'Cost', isNumber: true, cell: ({ cost_usd }) => <Money amount={cost_usd} /> },
              ]}
            />
          )}
        </Shown>
      </section>
      <Bill month={month.value} />
    </Page>
  );
}

function nextMonth(month: string): string {
  const [year = 0, number = 0] = month.split('-').map(Number);
  return new Date(Date.UTC(year, number)).toISOString().slice(0, 10);
}
