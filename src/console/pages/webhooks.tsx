// Where the organisation's events are posted, and how the deliveries went.
import { type Signal, useSignal } from '@preact/signals';
import type {
  NewWebhookAnswer,
  WebhookAnswer,
  WebhookBody,
  WebhookDelivery,
  WebhookDeliveryList,
  WebhookEvent,
  WebhookList,
} from '../../api/webhooks.ts';
import { ActionButton, Dialog } from '../controls/actions.tsx';
import { Field, Form, textOf } from '../controls/form.tsx';
import { Badge, Notice, type Tone } from '../controls/notice.tsx';
import { Loaded, Page } from '../controls/page.tsx';
import { Pager, Table } from '../controls/table.tsx';
import { Ago, Copyable } from '../controls/values.tsx';
import { request, useAnswer } from '../data/api.ts';
import { ago } from '../data/format.ts';
import { may } from '../data/organisation.ts';

const EVENTS: Readonly<Record<WebhookEvent, string>> = {
  'job.completed': 'A job is done',
  'job.failed': 'A job failed',
  'session.ended': 'A live session ended',
  'usage.recorded': 'Usage was recorded: a session, file or job was charged',
  'balance.low': 'The balance is low',
  'spend.reached': 'A key reached its daily spend',
  'key.revoked': 'A key was revoked',
};

const REASONS: Readonly<Record<string, string>> = {
  requested: 'by a member',
  gone: 'the receiver answered 410',
  failing: 'no delivery succeeded for five days',
};

const TONES: Readonly<Record<WebhookDelivery['state'], Tone>> = { pending: 'busy', delivered: 'good', failed: 'bad' };

export function Webhooks() {
  const webhooks = useAnswer<WebhookList>('webhooks');
  const edited = useSignal<WebhookAnswer | 'new' | undefined>(undefined);
  const created = useSignal<NewWebhookAnswer | undefined>(undefined);
  /** The one whose deliveries are shown. */
  const shown = useSignal<string | undefined>(undefined);
  const close = () => {
    edited.value = undefined;
    webhooks.reload();
  };
  return (
    <Page
      title="Webhooks"
      about="The gateway posts events of the organisation to your servers, signed, and retries for three days."
      actions={
        may('admin') ? (
          <button type="button" class="primary" onClick={() => (edited.value = 'new')}>
            Add a webhook
          </button>
        ) : undefined
      }
    >
      {created.value === undefined ? null : <Secret of={created.value} />}
      <Loaded answer={webhooks}>
        {({ data }) => (
          <>
            <Table
              caption="Webhooks"
              rows={data}
              idOf={({ id }) => id}
              empty={<p>No webhook yet. Add the URL of a server that should receive events.</p>}
              columns={[
                { title: 'URL', cell: urlOf },
                { title: 'Events', cell: eventsOf },
                { title: 'State', cell: stateOf },
                {
                  title: 'Change',
                  cell: (webhook) => (
                    <Change of={webhook} edited={edited} created={created} shown={shown} changed={webhooks.reload} />
                  ),
                },
              ]}
            />
            {data.some(({ id }) => id === shown.value) ? (
              <Deliveries key={shown.value} of={shown.value as string} />
            ) : null}
          </>
        )}
      </Loaded>
      {edited.value === undefined ? null : (
        <Dialog title={edited.value === 'new' ? 'Add a webhook' : 'Edit the webhook'} close={close}>
          <WebhookForm
            of={edited.value === 'new' ? undefined : edited.value}
            done={(answer) => {
              if (answer !== undefined) created.value = answer;
              close();
            }}
          />
        </Dialog>
      )}
    </Page>
  );
}

function Secret({ of: { url, secret } }: { of: NewWebhookAnswer }) {
  return (
    <Notice tone="good">
      <p>The secret for {url}. It is shown only now: your server verifies posts with it.</p>
      <Copyable text={secret} label="Secret" />
    </Notice>
  );
}

const urlOf = ({ url, description }: WebhookAnswer) => (
  <>
    {url}
    {description === '' ? null : <small> {description}</small>}
  </>
);

const eventsOf = ({ events, format }: WebhookAnswer) => (
  <>
    {events.join(', ')}
    {format === 'cloudevents' ? <small> as CloudEvents</small> : null}
  </>
);

function stateOf({ state, disabled_reason, failing_since, previous_secret_until, dropped }: WebhookAnswer) {
  const isFailing = state === 'enabled' && failing_since !== null;
  return (
    <>
      <Badge tone={state === 'disabled' ? 'bad' : isFailing ? 'warn' : 'good'}>{isFailing ? 'failing' : state}</Badge>{' '}
      {disabled_reason === null ? null : REASONS[disabled_reason]}
      {isFailing ? <>since {ago(failing_since)}</> : null}
      {previous_secret_until === null ? null : <small> former secret ends {ago(previous_secret_until)}</small>}
      {dropped === 0 ? null : <small> {dropped} dropped</small>}
    </>
  );
}

interface ChangeProps {
  of: WebhookAnswer;
  edited: Signal<WebhookAnswer | 'new' | undefined>;
  created: Signal<NewWebhookAnswer | undefined>;
  shown: Signal<string | undefined>;
  changed(): void;
}

function Change({ of, edited, created, shown, changed }: ChangeProps) {
  const { id, state, url } = of;
  const isEnabled = state === 'enabled';
  const roll = async () => {
    created.value = await request<NewWebhookAnswer>('POST', `webhooks/${id}/secret`);
    changed();
  };
  const toggle = () => request('PATCH', `webhooks/${id}`, { state: isEnabled ? 'disabled' : 'enabled' }).then(changed);
  const test = async () => {
    await request('POST', `webhooks/${id}/test`);
    shown.value = id;
  };
  return (
    <div class="row">
      <button type="button" onClick={() => (shown.value = shown.value === id ? undefined : id)}>
        Deliveries
      </button>
      {isEnabled ? <ActionButton action={test}>Test</ActionButton> : null}
      {may('admin') ? (
        <>
          <button type="button" onClick={() => (edited.value = of)}>
            Edit
          </button>
          <ActionButton action={toggle}>{isEnabled ? 'Disable' : 'Enable'}</ActionButton>
          <ActionButton
            action={roll}
            confirm={{
              title: 'Replace the secret?',
              text: 'For 24 hours, posts are signed with both secrets.',
              button: 'Replace the secret',
            }}
          >
            Roll
          </ActionButton>
          <ActionButton
            class="danger"
            action={() => request('DELETE', `webhooks/${id}`).then(changed)}
            confirm={{
              title: `Delete the webhook for ${url}?`,
              text: 'Its deliveries are deleted as well, and those that wait are not sent.',
              button: 'Delete the webhook',
            }}
          >
            Delete
          </ActionButton>
        </>
      ) : null}
    </div>
  );
}

/** While deliveries wait, the list is loaded again. */
const RELOAD_MS = 3_000;

function Deliveries({ of: id }: { of: string }) {
  const before = useSignal<string | undefined>(undefined);
  const query = before.value === undefined ? '' : `?before=${encodeURIComponent(before.value)}`;
  const deliveries = useAnswer<WebhookDeliveryList>(`webhooks/${id}/deliveries${query}`, RELOAD_MS);
  const resend = (delivery: string) =>
    request('POST', `webhooks/${id}/deliveries/${delivery}/resend`).then(deliveries.reload);
  return (
    <Loaded answer={deliveries}>
      {({ data, has_more, next }) => (
        <>
          <Table
            caption="Deliveries"
            rows={data}
            idOf={(delivery) => delivery.id}
            empty={<p>No delivery yet. Send a test event.</p>}
            columns={[
              { title: 'Event', cell: ({ event }) => event },
              { title: 'Created', cell: ({ created_at }) => <Ago at={created_at} /> },
              { title: 'State', cell: ({ state }) => <Badge tone={TONES[state]}>{state}</Badge> },
              { title: 'Attempts', cell: attemptsOf },
              {
                title: 'Next',
                cell: ({ next_attempt_at }) => (next_attempt_at === null ? '' : <Ago at={next_attempt_at} />),
              },
              {
                title: 'Change',
                cell: (delivery) => <ActionButton action={() => resend(delivery.id)}>Send again</ActionButton>,
              },
            ]}
          />
          <Pager before={before} last={next ?? undefined} hasMore={has_more} />
        </>
      )}
    </Loaded>
  );
}

function attemptsOf({ attempts, latest_attempts: latest }: WebhookDelivery) {
  const text = latest.map(({ status, error }) => status ?? error).join(', ');
  return (
    <>
      {attempts} {text === '' ? null : <small>{text}</small>}
    </>
  );
}

interface WebhookFormProps {
  of: WebhookAnswer | undefined;
  done(created: NewWebhookAnswer | undefined): void;
}

function WebhookForm({ of, done }: WebhookFormProps) {
  const send = async (values: FormData) => {
    const body: WebhookBody = {
      url: textOf(values, 'url'),
      events: values.getAll('events') as WebhookEvent[],
      description: textOf(values, 'description'),
      balance_low_usd: textOf(values, 'balance_low_usd'),
      transcripts: values.has('transcripts'),
    };
    const format = values.has('cloudevents') ? 'cloudevents' : 'standard';
    if (of === undefined) return done(await request<NewWebhookAnswer>('POST', 'webhooks', { ...body, format }));
    await request('PATCH', `webhooks/${of.id}`, body);
    done(undefined);
  };
  return (
    <Form button={of === undefined ? 'Add the webhook' : 'Save'} send={send}>
      <Field
        label="URL"
        name="url"
        value={of?.url ?? ''}
        required
        maxLength={2048}
        placeholder="https://example.com/voxgate"
      />
      <fieldset>
        <legend>Events</legend>
        {Object.entries(EVENTS).map(([event, text]) => (
          <label class="choice" key={event}>
            <input
              type="checkbox"
              name="events"
              value={event}
              defaultChecked={of === undefined || of.events.includes(event as WebhookEvent)}
            />
            {text}
          </label>
        ))}
      </fieldset>
      <label class="choice">
        <input type="checkbox" name="transcripts" defaultChecked={of?.transcripts ?? false} />
        Ends of sessions with the transcript
      </label>
      {of === undefined ? (
        <label class="choice">
          <input type="checkbox" name="cloudevents" />
          As CloudEvents, for a metering system
        </label>
      ) : null}
      <Field label="Description" name="description" value={of?.description ?? ''} maxLength={200} />
      <Field
        label="A balance is low below, in USD"
        name="balance_low_usd"
        value={of?.balance_low_usd ?? '5'}
        required
        inputMode="decimal"
      />
    </Form>
  );
}
