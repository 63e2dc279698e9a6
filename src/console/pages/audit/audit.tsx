// Who did what: every change of the organisation, newest first.
import { useSignal } from '@preact/signals';
import type { AuditView } from '../../../api/console/console.ts';
import { Page, Shown } from '../../controls/page.tsx';
import { Pager } from '../../controls/pager.tsx';
import { Table } from '../../controls/table.tsx';
import { useAnswer } from '../../data/answer.ts';
import { time } from '../../data/format.ts';

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
      <Shown answer={entries}>
        {({ data, has_more }) => (
          <>
            <Table
              caption="Audit"
              rows={data}
              idOf={({ number }) => String(number)}
              empty={<p>Nothing has been changed yet.</p>}
              columns={[
                { title: 'When', cell: ({ at }) => time(at) },
                { title: 'What', cell: ({ action }) => <code>{action}</code> },
                { title: 'Of', cell: ({ target }) => (target === null ? '' : <code>{target}</code>) },
                { title: 'By', cell: ({ by }) => `${by.type} ${by.id}` },
                { title: 'From', cell: ({ by }) => by.address ?? '' },
                { title: 'Details', cell: ({ detail }) => detailOf(detail) },
              ]}
            />
            <Pager before={before} last={data.at(-1)?.number} hasMore={has_more} />
          </>
        )}
      </Shown>
    </Page>
  );
}

const detailOf = (detail: AuditView['detail']): string =>
  Object.entries(detail)
    .map(([name, value]) => `${name}: ${typeof value === 'string' ? value : JSON.stringify(value)}`)
    .join(', ');
