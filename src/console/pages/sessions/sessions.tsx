// Live sessions and files of the organisation, newest first. The filter is part of the address, and sent to the gateway unchanged; each
// choice is a chip that removes it.
import { useSignal } from '@preact/signals';
import { useEffect, useId } from 'preact/hooks';
import type { KeyView } from '../../../api/console/console.ts';
import type { ModelList } from '../../../api/models.ts';
import type { SessionList } from '../../../api/usage.ts';
import { FilterForm } from '../../controls/form.tsx';
import { Loaded, Page } from '../../controls/page.tsx';
import { Pager } from '../../controls/table.tsx';
import { useAnswer } from '../../data/api.ts';
import { reasonText } from '../../data/format.ts';
import { go, query, setQuery } from '../../data/location.ts';
import { may, nameOf } from '../../data/organisation.ts';
import { SessionTable } from './session-table.tsx';

const EVERY_MS = 5_000;

export function Sessions() {
  const params = new URLSearchParams(query.value);
  const filter = new URLSearchParams([...params].filter(([name]) => (FILTERS as readonly string[]).includes(name)));
  const text = filter.toString();
  const before = useSignal<string | undefined>(undefined);
  useEffect(() => {
    before.value = undefined;
  }, [text]);
  const sessions = useAnswer<SessionList>(
    `sessions?${new URLSearchParams([['limit', '50'], ...(before.value === undefined ? [] : [['before', before.value]]), ...filter])}`,
    before.value === undefined ? EVERY_MS : undefined,
  );
  return (
    <Page title="Sessions" about="Every live session and file, on all nodes.">
      <SessionFilter filter={filter} />
      <Loaded answer={sessions}>
        {({ data, next }) => (
          <>
            <SessionTable
              sessions={data}
              empty={filter.size === 0 && before.value === undefined ? undefined : <None isAll={next === null} />}
            />
            <Pager before={before} last={next ?? undefined} hasMore={next !== null} />
          </>
        )}
      </Loaded>
    </Page>
  );
}

function None({ isAll }: { isAll: boolean }) {
  return (
    <div class="stack close">
      <p>
        {isAll
          ? 'No sessions match these filters. Remove one of them, or show all sessions.'
          : 'None of the newest 10,000 sessions match. Older ones may.'}
      </p>
      <p>
        <button type="button" onClick={() => setQuery(new URLSearchParams())}>
          Show all sessions
        </button>
      </p>
    </div>
  );
}

const LABELS = {
  state: 'State',
  model: 'Model or provider',
  key: 'Key',
  tag: 'Tag',
  from: 'From',
  to: 'Until before',
  reason: 'Ended',
  id: 'Id',
} as const;
type FilterName = keyof typeof LABELS;
const FILTERS = Object.keys(LABELS) as FilterName[];

/** How sessions usually end; there are also the codes of errors. */
const REASONS = [
  'client_closed',
  'completed',
  'idle',
  'too_long',
  'credit',
  'upstream',
  'upstream_exhausted',
  'draining',
  'node_lost',
  'recovered',
  'answer_untaken',
  'error',
];
/** A complete id: its session is found at any age. */
const WHOLE_ID = /^(?:ses_[a-z0-9]{6}[0-9a-f]{32}|req_[0-9a-z]{20,})$/;

function SessionFilter({ filter }: { filter: URLSearchParams }) {
  const choose = (chosen: URLSearchParams) => {
    const id = chosen.get('id') ?? '';
    if (WHOLE_ID.test(id)) go(`/sessions/${id}`);
    else setQuery(chosen);
  };
  const without = (name: string) => setQuery(new URLSearchParams([...filter].filter(([each]) => each !== name)));
  const value = (name: FilterName) => filter.get(name) ?? '';
  return (
    <search class="stack close">
      <details class="filters" open={filter.size === 0 ? undefined : true}>
        <summary>Filter</summary>
        <FilterForm filter={filter} choose={choose}>
          <label class="field">
            Id, or how it begins
            <input name="id" type="search" defaultValue={value('id')} placeholder="ses_… or req_…" maxLength={200} />
          </label>
          <Choice name="state" value={value('state')} options={[['live'], ['ended']]} />
          <Models value={value('model')} />
          <Keys value={value('key')} />
          <label class="field">
            Tag
            <input name="tag" type="search" defaultValue={value('tag')} placeholder="customer:acme" maxLength={150} />
          </label>
          <Choice
            name="reason"
            value={value('reason')}
            options={[...new Set([...REASONS, value('reason')])]
              .filter((reason) => reason !== '')
              .map((reason) => [reason, reasonText(reason)])}
          />
          <label class="field">
            From, UTC
            <input name="from" type="date" defaultValue={value('from')} />
          </label>
          <label class="field">
            Until before, UTC
            <input name="to" type="date" defaultValue={value('to')} />
          </label>
        </FilterForm>
      </details>
      {filter.size === 0 ? null : (
        <ul class="plain-list row" aria-label="Filters in force">
          {[...filter].map(([name, text]) => (
            <li key={name}>
              <button type="button" class="filter-chip" onClick={() => without(name)}>
                {LABELS[name as FilterName]}: {wordsOf(name, text)}
                <span aria-hidden="true">×</span>
                <span class="unseen">, remove this filter</span>
              </button>
            </li>
          ))}
          {filter.size < 2 ? null : (
            <li>
              <button type="button" class="plain" onClick={() => setQuery(new URLSearchParams())}>
                Remove all
              </button>
            </li>
          )}
        </ul>
      )}
    </search>
  );
}

function wordsOf(name: string, value: string): string {
  if (name === 'reason') return reasonText(value);
  return name === 'key' ? (nameOf(value) ?? value) : value;
}

interface ChoiceProps {
  name: FilterName;
  value: string;
  options: readonly (readonly [value: string, text?: string])[];
}

const Choice = ({ name, value, options }: ChoiceProps) => (
  <label class="field">
    {LABELS[name]}
    <select name={name}>
      <option value="">any</option>
      {options.map(([option, text]) => (
        <option key={option} value={option} selected={option === value}>
          {text ?? option}
        </option>
      ))}
    </select>
  </label>
);

function Models({ value }: { value: string }) {
  const id = useId();
  const { value: models } = useAnswer<ModelList>('models');
  const slugs = models?.data.map((model) => model.id) ?? [];
  const providers = [...new Set(slugs.map((slug) => slug.split('/')[0] as string))];
  return (
    <label class="field">
      {LABELS.model}
      <input name="model" defaultValue={value} list={id} maxLength={200} autocomplete="off" placeholder="any" />
      <datalist id={id}>
        {[...providers, ...slugs].map((option) => (
          <option key={option} value={option} />
        ))}
      </datalist>
    </label>
  );
}

/** Only developers see the list. */
function Keys({ value }: { value: string }) {
  const { value: keys } = useAnswer<{ data: KeyView[] }>(may('developer') ? 'keys' : undefined);
  if (keys === undefined && value === '') return null;
  const known = keys?.data.map(({ id, name, display }) => [id, `${name} (${display})`] as const) ?? [];
  const isKnown = value === '' || known.some(([id]) => id === value);
  return <Choice name="key" value={value} options={isKnown ? known : [[value], ...known]} />;
}
