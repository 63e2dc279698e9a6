// What was used and what it cost, by day, provider, model and key; and the bills of the months.
import { useSignal } from '@preact/signals';
import type { UsageList } from '../../api/usage.ts';
import { ActionButton } from '../controls/actions.tsx';
import { Notice } from '../controls/notice.tsx';
import { Loaded, Page } from '../controls/page.tsx';
import { DailyCosts } from '../controls/plots.tsx';
import { Table } from '../controls/table.tsx';
import { Money, Named } from '../controls/values.tsx';
import { request, useAnswer } from '../data/api.ts';
import { length } from '../data/format.ts';

const GROUPS = { day: 'Day', provider: 'Provider', model: 'Model', key: 'Key', tag: 'Tag' } as const;
/** A key that the gateway takes; the first of a tag that people are likely to have. */
const TAG_KEY = '[a-z0-9_.\\-]{1,40}';
const USUAL_TAG = 'customer';
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
  const tag = useSignal(USUAL_TAG);
  const groupBy = group.value === 'tag' ? `tag:${tag.value}` : group.value;
  const period = `from=${month.value}-01&to=${nextMonth(month.value)}`;
  const byDay = useAnswer<UsageList>(`usage?${period}&group_by=day`);
  const usage = useAnswer<UsageList>(`usage?${period}&group_by=${groupBy}`);
  return (
    <Page
      title="Usage and bills"
      about="One bill across all providers, in UTC. Usage of your own provider keys costs $0.00 here."
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
      <Loaded answer={byDay}>
        {({ data, total }) => (
          <section class="card">
            <div class="row apart">
              <h2>
                <Money amount={total.cost_usd} />
              </h2>
              <span class="quiet">{length(total.audio_seconds)} of audio</span>
            </div>
            {total.redactions === undefined ? null : <p class="quiet">Redacted: {countsOf(total.redactions)}.</p>}
            <DailyCosts
              label="Cost by day, USD; the figures are in the table below"
              dates={datesOf(month.value)}
              rows={data}
            />
          </section>
        )}
      </Loaded>
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
          {group.value === 'tag' ? (
            <label class="row">
              Key
              <input
                value={tag.value}
                pattern={TAG_KEY}
                maxLength={40}
                onChange={({ currentTarget: input }) => {
                  if (input.value !== '' && input.reportValidity()) tag.value = input.value;
                }}
              />
            </label>
          ) : null}
          <a href={`/console/api/usage?${period}&group_by=${groupBy}&format=csv`} download>
            Download as CSV
          </a>
        </div>
        <Loaded answer={usage}>
          {({ data }) => (
            <Table
              caption="Usage"
              rows={data}
              idOf={({ group: name, byok }) => `${name ?? ''} ${byok}`}
              empty={<p>No usage in this month.</p>}
              columns={[
                {
                  title: GROUPS[group.value],
                  cell: ({ group: name }) => <GroupName name={name} isKey={group.value === 'key'} />,
                },
                { title: 'On', cell: ({ byok }) => <span>{byok ? 'your own key' : 'the service’s key'}</span> },
                { title: 'Sessions and files', isNumber: true, cell: ({ sessions }) => sessions },
                { title: 'Audio', isNumber: true, cell: ({ audio_seconds }) => length(audio_seconds) },
                { title: 'Cost', isNumber: true, cell: ({ cost_usd }) => <Money amount={cost_usd} /> },
              ]}
            />
          )}
        </Loaded>
      </section>
      <Bill month={month.value} />
    </Page>
  );
}

const countsOf = (redactions: Readonly<Record<string, number>>): string =>
  Object.entries(redactions)
    .map(([name, count]) => `${count} ${name.replaceAll('_', ' ')}`)
    .join(', ');

/** What has no such tag is told apart from any value. */
function GroupName({ name, isKey }: { name: string | null; isKey: boolean }) {
  if (name === null) return <span class="quiet">without this tag</span>;
  return isKey ? <Named id={name} /> : <span>{name}</span>;
}

function nextMonth(month: string): string {
  const [year = 0, number = 0] = month.split('-').map(Number);
  return new Date(Date.UTC(year, number)).toISOString().slice(0, 10);
}

function datesOf(month: string): string[] {
  const [year = 0, number = 0] = month.split('-').map(Number);
  const count = new Date(Date.UTC(year, number, 0)).getUTCDate();
  return Array.from({ length: count }, (_, at) => `${month}-${String(at + 1).padStart(2, '0')}`);
}

/** To print or download. The gateway requires the password before, unless it was entered recently. */
function Bill({ month }: { month: string }) {
  /** The address of a bill that the browser did not let open. */
  const blocked = useSignal<string | undefined>(undefined);
  const address = (format: string) => `/console/api/bills/${month}?format=${format}`;
  const print = async () => {
    blocked.value = undefined;
    await request('GET', `bills/${month}`);
    const page = open(address('html'), '_blank');
    if (page === null) blocked.value = address('html');
    else page.opener = null;
  };
  const download = async () => {
    await request('GET', `bills/${month}`);
    location.assign(address('csv'));
  };
  return (
    <section class="card">
      <h2>Bill of {month}</h2>
      <div class="row">
        <ActionButton action={print}>Open to print</ActionButton>
        <ActionButton action={download}>Download as CSV</ActionButton>
      </div>
      {blocked.value === undefined ? null : (
        <Notice tone="busy">
          <a href={blocked.value} target="_blank" rel="noreferrer">
            Open the bill of {month}
          </a>
        </Notice>
      )}
    </section>
  );
}
