// Jobs of an API key, newest first: how they went, and for developers the means to cancel and delete them. Key, status and tag are part
// of the address.
import { type Signal, useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useEffect } from 'preact/hooks';
import type { KeyView } from '../../api/console/console.ts';
import type { JobView, JobViewList } from '../../api/console/jobs.ts';
import type { JobStatus } from '../../api/jobs.ts';
import type { UsageList } from '../../api/usage.ts';
import { ActionButton, Dialog } from '../controls/actions.tsx';
import { FilterForm } from '../controls/form.tsx';
import { Badge, Prose, type Tone } from '../controls/notice.tsx';
import { Link, Loaded, Page } from '../controls/page.tsx';
import { Pager, Table } from '../controls/table.tsx';
import { Ago, Copyable, Money } from '../controls/values.tsx';
import { type Answer, request, useAnswer } from '../data/api.ts';
import { length, reasonText, shortId } from '../data/format.ts';
import { query, setQuery } from '../data/location.ts';
import { may, person, usedSince } from '../data/organisation.ts';

const EVERY_MS = 5_000;
const WATCHED_EVERY_MS = 2_000;

const TONES: Readonly<Record<JobStatus, Tone>> = {
  queued: 'quiet',
  processing: 'busy',
  completed: 'good',
  failed: 'bad',
  cancelled: 'quiet',
};
const STATUSES = Object.keys(TONES) as JobStatus[];

export function Jobs() {
  const keys = useKeys();
  const chosen = new URLSearchParams(query.value).get('key');
  return (
    <Page title="Jobs" about="Transcriptions in the background, by the API key that created them.">
      <Loaded answer={keys}>
        {(all) => {
          const key = chosen ?? all[0]?.id;
          return key === undefined ? <NoKey /> : <JobsOf key={key} of={key} keys={all} />;
        }}
      </Loaded>
    </Page>
  );
}

const NoKey = () => (
  <p>
    {may('developer') ? (
      <>
        No API key yet. Mint a <Link to="/keys">key</Link>, then send a file to <code>/v1/jobs</code>.
      </>
    ) : (
      'No API key was used in the last 90 days.'
    )}
  </p>
);

interface KeyOption {
  id: string;
  text: string;
}

/** Only developers see the list of keys. Other members know those that were used, from the usage. */
function useKeys(): Answer<readonly KeyOption[]> {
  const isDeveloper = may('developer');
  const keys = useAnswer<{ data: KeyView[] }>(isDeveloper ? 'keys' : undefined);
  const used = useAnswer<UsageList>(isDeveloper ? undefined : `usage?from=${usedSince()}&group_by=key`);
  const usedIds = used.value && [...new Set(used.value.data.flatMap(({ group }) => group ?? []))];
  const value = isDeveloper
    ? keys.value?.data.map(({ id, name, display }) => ({ id, text: `${name} (${display})` }))
    : usedIds?.map((id) => ({ id, text: shortId(id) }));
  return { ...(isDeveloper ? keys : used), value };
}

function JobsOf({ of: key, keys }: { of: string; keys: readonly KeyOption[] }) {
  const params = new URLSearchParams(query.value);
  const filter = new URLSearchParams([
    ['key', key],
    ...['status', 'tag'].flatMap((name) => (params.has(name) ? [[name, params.get(name) as string]] : [])),
  ]);
  const text = filter.toString();
  const before = useSignal<string | undefined>(undefined);
  const opened = useSignal<JobView | undefined>(undefined);
  useEffect(() => {
    before.value = undefined;
  }, [text]);
  const rest = before.value === undefined ? '' : `&before=${encodeURIComponent(before.value)}`;
  const jobs = useAnswer<JobViewList>(`jobs?${text}${rest}`, before.value === undefined ? EVERY_MS : undefined);
  return (
    <>
      <Choices filter={filter} keys={keys} />
      <Loaded answer={jobs}>
        {({ data, has_more, next }) => (
          <>
            <JobTable jobs={data} of={key} opened={opened} changed={jobs.reload} isFiltered={filter.size > 1} />
            <Pager before={before} last={next ?? undefined} hasMore={has_more} />
          </>
        )}
      </Loaded>
      {opened.value === undefined ? null : (
        <Dialog title="Job" close={() => (opened.value = undefined)}>
          <Opened key={opened.value.id} id={opened.value.id} of={key} wasOver={isOver(opened.value)} />
        </Dialog>
      )}
    </>
  );
}

function Choices({ filter, keys }: { filter: URLSearchParams; keys: readonly KeyOption[] }) {
  const value = (name: string) => filter.get(name) ?? '';
  const key = value('key');
  const options = keys.some(({ id }) => id === key) ? keys : [{ id: key, text: shortId(key) }, ...keys];
  return (
    <search>
      <FilterForm filter={filter} choose={setQuery}>
        <label class="field">
          Key
          <select name="key">
            {options.map(({ id, text }) => (
              <option key={id} value={id} selected={id === key}>
                {text}
              </option>
            ))}
          </select>
        </label>
        <label class="field">
          Status
          <select name="status">
            <option value="">any</option>
            {STATUSES.map((status) => (
              <option key={status} value={status} selected={status === value('status')}>
                {status}
              </option>
            ))}
          </select>
        </label>
        <label class="field">
          Tag
          <input name="tag" type="search" defaultValue={value('tag')} placeholder="customer:acme" maxLength={150} />
        </label>
      </FilterForm>
    </search>
  );
}

interface JobTableProps {
  jobs: readonly JobView[];
  /** Id of the key. */
  of: string;
  opened: Signal<JobView | undefined>;
  isFiltered: boolean;
  changed(): void;
}

function JobTable({ jobs, of, opened, isFiltered, changed }: JobTableProps) {
  return (
    <Table
      caption="Jobs"
      rows={jobs}
      idOf={({ id }) => id}
      empty={
        isFiltered ? (
          <p>No jobs of this key match. Choose another status, or remove the tag.</p>
        ) : (
          <p>
            This key has no jobs. Send a file to <code>/v1/jobs</code>, as the <a href="/docs/guides/jobs">guide</a>{' '}
            shows.
          </p>
        )
      }
      columns={[
        {
          title: 'Job',
          cell: (job) => (
            <button type="button" class="address opens" title={job.id} onClick={() => (opened.value = job)}>
              {job.file.name === '' ? shortId(job.id) : job.file.name}
            </button>
          ),
        },
        { title: 'Status', cell: statusOf },
        { title: 'Model', cell: (job) => <Model of={job} keyId={of} /> },
        { title: 'Created', cell: ({ created_at }) => <Ago at={created_at} /> },
        { title: 'Audio', isNumber: true, cell: ({ seconds }) => (seconds === undefined ? '–' : length(seconds)) },
        { title: 'Cost', isNumber: true, cell: costOf },
        {
          title: 'Kept until',
          cell: ({ expires_at }) => (expires_at === null ? '–' : <Ago at={expires_at} />),
        },
        ...(may('developer')
          ? [{ title: 'Change', cell: (job: JobView) => <Change of={job} keyId={of} changed={changed} /> }]
          : []),
      ]}
    />
  );
}

const isOver = ({ ended_at }: JobView): boolean => ended_at !== null;

const costOf = ({ cost_usd: cost }: JobView) => (cost === undefined ? '–' : <Money amount={cost} />);

/** How often it was begun is worth a word only where its node was restarted or lost meanwhile. */
const statusOf = ({ status, error, attempts }: JobView) => (
  <>
    <Badge tone={TONES[status]}>{status}</Badge>
    {status !== 'failed' || error === undefined ? null : <small> {reasonText(error.code)}</small>}
    {attempts < 2 ? null : <small> begun {attempts} times</small>}
  </>
);

function Model({ of: { model, tags }, keyId }: { of: JobView; keyId: string }) {
  return (
    <div>
      <span>{model}</span>
      {tags === undefined ? null : (
        <div class="row">
          {Object.entries(tags).map(([name, value]) => (
            <Link key={name} to={`/jobs?${new URLSearchParams({ key: keyId, tag: `${name}:${value}` })}`}>
              {name}: {value}
            </Link>
          ))}
        </div>
      )}
    </div>
  );
}

const pathOf = (id: string, keyId: string, action = ''): string =>
  `jobs/${encodeURIComponent(id)}${action}?${new URLSearchParams({ key: keyId })}`;

function Change({ of: job, keyId, changed }: { of: JobView; keyId: string; changed(): void }) {
  return (
    <div class="row">
      {isOver(job) ? null : (
        <ActionButton action={() => request('POST', pathOf(job.id, keyId, '/cancel')).then(changed)}>
          Cancel
        </ActionButton>
      )}
      <ActionButton
        class="danger"
        action={() => request('DELETE', pathOf(job.id, keyId)).then(changed)}
        confirm={{
          title: `Delete the job of ${job.file.name}?`,
          text: 'Its transcript is deleted as well. An unfinished job is cancelled.',
          button: 'Delete the job',
        }}
      >
        Delete
      </ActionButton>
    </div>
  );
}

/** With what a list does not have: progress, the answer of the webhook, and the text. */
function Opened({ id, of, wasOver }: { id: string; of: string; wasOver: boolean }) {
  const isDone = useSignal(wasOver);
  const job = useAnswer<JobView>(pathOf(id, of), isDone.value ? undefined : WATCHED_EVERY_MS);
  const hasEnded = job.value !== undefined && isOver(job.value);
  useEffect(() => {
    if (hasEnded) isDone.value = true;
  }, [hasEnded]);
  return (
    <Loaded answer={job}>
      {(view) => {
        const { progress, error, webhook_url: url, webhook_status: answered } = view;
        return (
          <div class="stack close">
            <div class="row">
              {statusOf(view)}
              <strong>{view.model}</strong>
            </div>
            <dl class="facts">
              <Fact title="Begun">{view.attempts === 1 ? 'once' : `${view.attempts} times`}</Fact>
              <Fact title="Audio">{view.seconds === undefined ? view.file.name : length(view.seconds)}</Fact>
              <Fact title="Cost">{costOf(view)}</Fact>
              <Fact title="Created">
                <Ago at={view.created_at} />
              </Fact>
              {view.ended_at === null ? null : (
                <Fact title="Ended">
                  <Ago at={view.ended_at} />
                </Fact>
              )}
              {progress === undefined ? null : (
                <Fact title="Parts">
                  {progress.done} of {progress.parts}
                </Fact>
              )}
              {url === undefined ? null : <Fact title="Webhook">{answered ?? 'no answer yet'}</Fact>}
            </dl>
            {error === undefined ? null : (
              <p>
                <Prose text={error.message} />
              </p>
            )}
            {view.status === 'completed' ? <Text of={view} /> : null}
            <Copyable text={id} label="the id" />
          </div>
        );
      }}
    </Loaded>
  );
}

function Text({ of: { text } }: { of: JobView }) {
  if (text === '') return <p class="quiet">No speech was found in the audio.</p>;
  if (text !== undefined) return <Copyable text={text} label="the transcript" />;
  return (
    <p class="quiet">
      {person.value?.organisation.show_transcripts
        ? 'The transcript cannot be shown.'
        : 'Your organisation does not show transcripts here. An owner can turn them on in Settings.'}
    </p>
  );
}

const Fact = ({ title, children }: { title: string; children: ComponentChildren }) => (
  <div>
    <dt>{title}</dt>
    <dd>{children}</dd>
  </div>
);
