// Live sessions and files of the organisation, newest first, as far as they are wanted.
import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { SessionList } from '../../../api/usage.ts';
import { Page, Shown } from '../../controls/page.tsx';
import { Pager } from '../../controls/pager.tsx';
import { useAnswer } from '../../data/answer.ts';
import { ask, query } from '../../data/location.ts';
import { FILTERS, SessionFilter } from './session-filter.tsx';
import { SessionTable } from './session-table.tsx';

const EVERY_MS = 5_000;

export function Sessions() {
  const asked = new URLSearchParams(query.value);
  const wanted = new URLSearchParams([...asked].filter(([name]) => (FILTERS as readonly string[]).includes(name)));
  const text = wanted.toString();
  const before = useSignal<string | undefined>(undefined);
  useEffect(() => {
    before.value = undefined;
  }, [text]);
  const sessions = useAnswer<SessionList>(
    `sessions?${new URLSearchParams([['limit', '50'], ...(before.value === undefined ? [] : [['before', before.value]]), ...wanted])}`,
    before.value === undefined ? EVERY_MS : undefined,
  );
  return (
    <Page title="Sessions" about="Every live session and file, on all nodes.">
      <SessionFilter wanted={wanted} />
      <Shown answer={sessions}>
        {({ data, next }) => (
          <>
            <SessionTable
              sessions={data}
              empty={wanted.size === 0 && before.value === undefined ? undefined : <None isAll={next === null} />}
            />
            <Pager before={before} last={next ?? undefined} hasMore={next !== null} />
          </>
        )}
      </Shown>
    </Page>
  );
}

/** None was found. */
function None({ isAll }: { isAll: boolean }) {
  return (
    <div class="stack close">
      <p>
        {isAll
          ? 'No sessions match these filters. Remove one of them, or show all sessions.'
          : 'None of the newest 10,000 sessions match. Older ones may.'}
      </p>
      <p>
        <button type="button" onClick={() => ask(new URLSearchParams())}>
          Show all sessions
        </button>
      </p>
    </div>
  );
}
