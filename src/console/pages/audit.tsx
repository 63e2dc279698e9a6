// Who did what: every change of the organisation, newest first.
import { useSignal } from '@preact/signals';
import type { AuditView } from '../../api/console/console.ts';
import { Loaded, Page } from '../controls/page.tsx';
import { Pager, Table } from '../controls/table.tsx';
import { Named } from '../controls/values.tsx';
import { useAnswer } from '../data/api.ts';
import { time } from '../data/format.ts';

export function Audit() {
  const before = useSignal<number | undefined>(undefined);
  const entries = useAnswer<{ data: AuditView[]; has_more: boolean }>(
    `audit?limit=50${before.value === undefined ? '' : `&before=${before.value}`}`,
  );
  return (
    <Page
      title="Audit"
      about="Every change to keys, provider keys, members and money of this organisation. Entries cannot be changed."
    >
      <Loaded answer={entries}>
        {({ data, has_more }) => (
          <>
            <Table
              caption="Audit"
              rows={data}
              idOf={({ number }) => String(number)}
              empty={<p>Nothing has been changed yet.</p>}
              columns={[
                { title: 'When', cell: ({ at }) => <span>{time(at)}</span> },
                { title: 'What', cell: ({ action }) => <code>{action}</code> },
                { title: 'Of', cell: ({ target }) => (target === null ? '' : <Named id={target} />) },
                {
                  title: 'By',
                  cell: ({ by }) => (by.type === 'system' ? `the ${by.id}` : <Named id={by.id} />),
                },
                { title: 'From', cell: ({ by }) => by.address ?? '' },
                { title: 'Details', cell: ({ detail }) => detailOf(detail) },
              ]}
            />
            <Pager before={before} last={data.at(-1)?.number} hasMore={has_more} />
          </>
        )}
      </Loaded>
    </Page>
  );
}

const detailOf = (detail: AuditView['detail']): string =>
  Object.entries(detail)
    .filter(([, value]) => value !== null)
    .map(
      ([name, value]) =>
        `${name}: ${Array.isArray(value) ? value.join(' ') : typeof value === 'object' ? JSON.stringify(value) : value}`,
    )
    .join(', ');
