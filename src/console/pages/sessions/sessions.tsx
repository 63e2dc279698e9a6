// Live sessions and files of the organisation, newest first; one is found by its id.
import { useSignal } from '@preact/signals';
import type { SessionList } from '../../../api/usage.ts';
import { Page, Shown } from '../../controls/page.tsx';
import { Pager } from '../../controls/pager.tsx';
import { useAnswer } from '../../data/answer.ts';
import { go } from '../../data/location.ts';
import { SessionTable } from './session-table.tsx';

const EVERY_MS = 5_000;

export function Sessions() {
  const before = useSignal<string | undefined>(undefined);
  const show = useSignal<'all' | 'live' | 'ended'>('all');
  const sessions = useAnswer<SessionList>(
    `sessions?limit=50${before.value === undefined ? '' : `&before=${before.value}`}`,
    before.value === undefined ? EVERY_MS : undefined,
  );
  return (
    <Page title="Sessions" about="Every live session and file, on whichever node it is.">
      <form
        class="row"
        onSubmit={(event) => {
          event.preventDefault();
          const id = String(new FormData(event.currentTarget).get('id')).trim();
          if (id !== '') go(`/sessions/${encodeURIComponent(id)}`);
        }}
      >
        <label class="field">
          Find by id
          <input name="id" type="search" placeholder="ses_… or req_…" />
        </label>
        <label class="field">
          Show
          <select
            value={show.value}
            onChange={(event) => (show.value = event.currentTarget.value as typeof show.value)}
          >
            <option value="all">all</option>
            <option value="live">live</option>
            <option value="ended">ended</option>
          </select>
        </label>
      </form>
      <Shown answer={sessions}>
        {({ data, has_more }) => (
          <>
            <SessionTable sessions={data.filter(({ state }) => show.value === 'all' || state === show.value)} />
            <Pager before={before} last={data.at(-1)?.id} hasMore={has_more} />
          </>
        )}
      </Shown>
    </Page>
  );
}
