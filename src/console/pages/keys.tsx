// API keys: minting, what they may do, rolling and revoking.
import { useSignal } from '@preact/signals';
import type { KeyBody, KeyView } from '../../api/console/console.ts';
import { eachKeyLimit, KEY_LIMITS } from '../../api/console/key-limits.ts';
import { textOfCeiling } from '../../api/spend-ceilings.ts';
import { ActionButton, Dialog } from '../controls/actions.tsx';
import { Field, Form, TextArea, textOf } from '../controls/form.tsx';
import { Badge, Notice, type Tone } from '../controls/notice.tsx';
import { Loaded, Page } from '../controls/page.tsx';
import { ReplacementRules, rulesOf } from '../controls/replacement-rules.tsx';
import { Table } from '../controls/table.tsx';
import { Ago, Copyable } from '../controls/values.tsx';
import { aliasesOf, linesOf } from '../data/alias-lines.ts';
import { request, useAnswer } from '../data/api.ts';
import { ceilingsOf } from '../data/ceiling-text.ts';
import { ago } from '../data/format.ts';
import { may, person } from '../data/organisation.ts';
import { linesOfTags, tagsOfLines } from '../data/tag-lines.ts';

/** A secret is shown once, where it was minted. */
interface Minted {
  key: KeyView;
  secret: string;
}

const TONES: Record<KeyView['status'], Tone> = { active: 'good', rolled: 'warn', expired: 'quiet', revoked: 'quiet' };

const LIMITS = Object.values(KEY_LIMITS);

/** What a key may be used for. */
const SCOPES = [
  { scope: 'listen', text: 'Live sessions' },
  { scope: 'transcribe', text: 'Files' },
  { scope: 'tokens', text: 'Client tokens' },
  { scope: 'tokens_may_upload', text: 'Files with client tokens' },
  { scope: 'webhooks', text: 'Managing webhooks' },
] as const;

/** Not of a new key unless they are chosen. */
const OPTIONAL: readonly string[] = ['tokens_may_upload', 'webhooks'];

export function Keys() {
  const keys = useAnswer<{ data: KeyView[] }>('keys');
  const edited = useSignal<KeyView | 'new' | undefined>(undefined);
  const minted = useSignal<Minted | undefined>(undefined);
  const close = () => {
    edited.value = undefined;
    keys.reload();
  };
  const roll = async ({ id }: KeyView) => {
    minted.value = await request<Minted>('POST', `keys/${id}/roll`);
    keys.reload();
  };
  return (
    <Page
      title="Keys"
      about="Your servers use a key to call the gateway. Browsers and apps use client tokens, which your server mints with the key."
      actions={
        <button type="button" class="primary" onClick={() => (edited.value = 'new')}>
          Mint a key
        </button>
      }
    >
      {minted.value === undefined ? null : <Secret minted={minted.value} />}
      <Loaded answer={keys}>
        {({ data }) => (
          <Table
            caption="API keys"
            rows={data}
            idOf={({ id }) => id}
            empty={<p>No key yet. Mint one: curl, the SDKs and your servers send it as the bearer token.</p>}
            columns={[
              { title: 'Name', cell: ({ name }) => name },
              { title: 'Key', cell: ({ display }) => <code>{display}</code> },
              { title: 'State', cell: stateOf },
              { title: 'For', cell: limitsOf },
              { title: 'Last used', cell: ({ last_used_at }) => (last_used_at === null ? 'never' : ago(last_used_at)) },
              { title: 'Minted', cell: mintedOf },
              {
                title: 'Change',
                cell: (key) =>
                  key.status !== 'active' || !isInReach(key) ? null : (
                    <div class="row">
                      {may('admin') ? (
                        <button type="button" onClick={() => (edited.value = key)}>
                          Edit
                        </button>
                      ) : null}
                      <ActionButton
                        action={() => roll(key)}
                        confirm={{
                          title: `Roll “${key.name}”?`,
                          text: 'This creates a new secret with the same settings. The old one works for another 24 hours.',
                          button: 'Roll the key',
                        }}
                      >
                        Roll
                      </ActionButton>
                      <ActionButton
                        class="danger"
                        action={() => request('DELETE', `keys/${key.id}`).then(keys.reload)}
                        confirm={{
                          title: `Revoke “${key.name}”?`,
                          text: 'It stops working at once, with its client tokens and live sessions. This cannot be undone.',
                          button: 'Revoke the key',
                        }}
                      >
                        Revoke
                      </ActionButton>
                    </div>
                  ),
              },
            ]}
          />
        )}
      </Loaded>
      {edited.value === undefined ? null : (
        <Dialog title={edited.value === 'new' ? 'Mint a key' : `Edit “${edited.value.name}”`} close={close}>
          <KeyForm
            of={edited.value === 'new' ? undefined : edited.value}
            done={(answer) => {
              if (answer !== undefined) minted.value = answer;
              close();
            }}
          />
        </Dialog>
      )}
    </Page>
  );
}

function Secret({ minted: { key, secret } }: { minted: Minted }) {
  return (
    <Notice tone="good">
      <p>The secret of “{key.name}” is shown only now. Copy it to where your server keeps its secrets.</p>
      <Copyable text={secret} label="Secret" />
    </Notice>
  );
}

function stateOf({ status, grace_until, expires_at }: KeyView) {
  const [what, when] = status === 'rolled' ? ['ends', grace_until] : ['expires', expires_at];
  const isToEnd = when !== null && (status === 'rolled' || status === 'active');
  return (
    <>
      <Badge tone={TONES[status]}>{status}</Badge> {isToEnd ? `${what} ${ago(when)}` : null}
    </>
  );
}

function limitsOf(key: KeyView): string {
  const parts = [
    SCOPES.filter(({ scope }) => key.scopes.includes(scope))
      .map(({ text }) => text)
      .join(', '),
    key.models === null ? undefined : key.models.join(', '),
    key.aliases === null ? undefined : `aliases ${Object.keys(key.aliases).join(', ')}`,
    key.origins === null ? undefined : `from ${key.origins.join(', ')}`,
    key.tags === null ? undefined : `tags ${Object.keys(key.tags).join(', ')}`,
    key.replace === null ? undefined : counted(key.replace.length, 'replacement rule'),
    ...LIMITS.map(({ member, noun }) => (key[member] === null ? undefined : `${key[member]} ${noun}`)),
    key.daily_spend_usd_max === null ? undefined : `$${key.daily_spend_usd_max} a day`,
    key.spend_ceilings === null ? undefined : `ceilings ${key.spend_ceilings.map(textOfCeiling).join(', ')}`,
  ];
  return parts.filter((part) => part !== undefined).join(' · ');
}

const counted = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`;

/** Without the role of an admin, people manage the keys that they minted. */
const isInReach = ({ made_by }: KeyView): boolean => may('admin') || made_by?.id === person.value?.id;

function mintedOf({ created_at, made_by }: KeyView) {
  return (
    <>
      <Ago at={created_at} />
      {made_by === null ? null : <div class="address">by {made_by.email ?? 'a deleted account'}</div>}
    </>
  );
}

interface KeyFormProps {
  /** Absent for a new one. */
  of: KeyView | undefined;
  done(minted: Minted | undefined): void;
}

/** Mints a key, or changes its settings. */
function KeyForm({ of, done }: KeyFormProps) {
  const send = async (values: FormData) => {
    const body = bodyOf(values);
    if (of !== undefined) {
      await request('PATCH', `keys/${of.id}`, body);
      done(undefined);
    } else done(await request('POST', 'keys', body));
  };
  return (
    <Form button={of === undefined ? 'Mint the key' : 'Save'} send={send}>
      <Field
        label="Name"
        name="name"
        value={of?.name}
        maxLength={100}
        required
        autofocus
        hint="Where it is used, such as “Production, checkout”."
      />
      <fieldset>
        <legend>May be used for</legend>
        {SCOPES.map(({ scope, text }) => (
          <label class="choice" key={scope}>
            <input
              type="checkbox"
              name="scopes"
              value={scope}
              defaultChecked={of === undefined ? !OPTIONAL.includes(scope) : of.scopes.includes(scope)}
            />
            {text}
          </label>
        ))}
      </fieldset>
      <details open={of === undefined ? undefined : isLimited(of)}>
        <summary>Models, limits and expiry</summary>
        <div class="stack close">
          <Field
            label="Models"
            name="models"
            value={of?.models?.join(', ')}
            hint="Slugs separated by commas, or a whole provider: deepgram/*. All when empty."
          />
          <TextArea
            label="Aliases"
            name="aliases"
            rows={3}
            value={linesOf(of?.aliases)}
            hint="Names that your code sends as the model, one per line: best = deepgram/nova-3, assemblyai/universal-streaming-english. The first model, then its fallbacks."
          />
          <Field
            label="Origins"
            name="origins"
            value={of?.origins?.join(', ')}
            hint="Only pages of these origins may use it or its tokens: https://app.example.com. All when empty."
          />
          <TextArea
            label="Tags"
            name="tags"
            rows={2}
            value={linesOfTags(of?.tags)}
            hint="For all usage of the key, one per line: customer: acme. Usage can be grouped by tag. A request can add tags, but not change these."
          />
          <ReplacementRules rules={of?.replace ?? []} />
          <div class="narrow">
            {LIMITS.map(({ member, label }) => (
              <Field key={member} label={label} name={member} type="number" min={1} value={of?.[member] ?? ''} />
            ))}
            <Field
              label="USD a day"
              name="daily_spend_usd_max"
              inputMode="decimal"
              pattern="\d{1,9}(\.\d{1,6})?"
              value={of?.daily_spend_usd_max ?? ''}
            />
          </div>
          <Field
            label="Spend ceilings"
            name="spend_ceilings"
            value={of?.spend_ceilings?.map(textOfCeiling).join(', ')}
            hint="The most in USD in an hour, day or month (UTC), over all providers or at one: 100/day, deepgram:20/month. No ceiling when empty."
          />
          <Field
            label="Expires"
            name="expires_at"
            type="datetime-local"
            value={localOf(of?.expires_at)}
            hint="In your time zone. Never when empty."
          />
        </div>
      </details>
    </Form>
  );
}

/** Whether it has any of the folded settings. */
const isLimited = ({
  models,
  aliases,
  origins,
  tags,
  replace,
  daily_spend_usd_max,
  spend_ceilings,
  expires_at,
  ...key
}: KeyView): boolean =>
  [
    models,
    aliases,
    origins,
    tags,
    replace,
    ...LIMITS.map(({ member }) => key[member]),
    daily_spend_usd_max,
    spend_ceilings,
    expires_at,
  ].some((setting) => setting !== null);

function bodyOf(values: FormData): KeyBody {
  const list = (name: string) => {
    const items = textOf(values, name)
      .split(/[\s,]+/)
      .filter((item) => item !== '');
    return items.length === 0 ? null : items;
  };
  const number = (name: string) => (textOf(values, name) === '' ? null : Number(textOf(values, name)));
  const expires = textOf(values, 'expires_at');
  return {
    name: textOf(values, 'name'),
    scopes: values.getAll('scopes') as NonNullable<KeyBody['scopes']>,
    models: list('models'),
    aliases: aliasesOf(textOf(values, 'aliases')),
    origins: list('origins'),
    tags: tagsOfLines(textOf(values, 'tags')),
    replace: rulesOf(values),
    ...eachKeyLimit('member', ({ member }) => number(member)),
    daily_spend_usd_max: textOf(values, 'daily_spend_usd_max') || null,
    spend_ceilings: ceilingsOf(textOf(values, 'spend_ceilings')),
    expires_at: expires === '' ? null : new Date(expires).toISOString(),
  };
}

/** For the browser's own field: local time without seconds. */
function localOf(iso: string | null | undefined): string {
  if (iso === null || iso === undefined) return '';
  const at = new Date(iso);
  return new Date(at.getTime() - at.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}
