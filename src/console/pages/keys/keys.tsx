// API keys: minting, what they may do, rolling and revoking. A secret is shown once, where it was minted.
import { useSignal } from '@preact/signals';
import type { KeyView } from '../../../api/console/console.ts';
import { Act } from '../../controls/act.tsx';
import { Copyable } from '../../controls/copy.tsx';
import { Dialog } from '../../controls/dialog.tsx';
import { Badge, Notice, type Tone } from '../../controls/notice.tsx';
import { Page, Shown } from '../../controls/page.tsx';
import { Table } from '../../controls/table.tsx';
import { useAnswer } from '../../data/answer.ts';
import { ask } from '../../data/api.ts';
import { ago, time } from '../../data/format.ts';
import { may, person } from '../../data/person.ts';
import { KeyForm, SCOPES } from './key-form.tsx';

interface Minted {
  key: KeyView;
  secret: string;
}

const TONES: Record<KeyView['status'], Tone> = { active: 'good', rolled: 'warn', expired: 'quiet', revoked: 'quiet' };

export function Keys() {
  const keys = useAnswer<{ data: KeyView[] }>('keys');
  const edited = useSignal<KeyView | 'new' | undefined>(undefined);
  const minted = useSignal<Minted | undefined>(undefined);
  const close = () => {
    edited.value = undefined;
    keys.reload();
  };
  const roll = async ({ id }: KeyView) => {
    minted.value = await ask<Minted>('POST', `keys/${id}/roll`);
    keys.reload();
  };
  return (
    <Page
      title="Keys"
      about="A key opens the gateway for your servers. Browsers and apps get client tokens, which your server mints with it."
      actions={
        <button type="button" class="primary" onClick={() => (edited.value = 'new')}>
          Mint a key
        </button>
      }
    >
      {minted.value === undefined ? null : <Secret minted={minted.value} />}
      <Shown answer={keys}>
        {({ data }) => (
          <Table
            caption="API keys"
            rows={data}
            idOf={({ id }) => id}
            empty={<p>No key yet. Mint one: curl, the SDKs and your servers send it as the bearer.</p>}
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
                      <Act
                        act={() => roll(key)}
                        sure={{
                          title: `Roll “${key.name}”?`,
                          text: 'This creates a new secret with the same settings. The old one works for another 24 hours.',
                          button: 'Roll the key',
                        }}
                      >
                        Roll
                      </Act>
                      <Act
                        class="danger"
                        act={() => ask('DELETE', `keys/${key.id}`).then(keys.reload)}
                        sure={{
                          title: `Revoke “${key.name}”?`,
                          text: 'It stops working at once, with its client tokens and live sessions. This cannot be undone.',
                          button: 'Revoke the key',
                        }}
                      >
                        Revoke
                      </Act>
                    </div>
                  ),
              },
            ]}
          />
        )}
      </Shown>
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
      <p>The secret of “{key.name}”. It is shown only now: copy it to where your server keeps its secrets.</p>
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
    key.sessions_max === null ? undefined : `${key.sessions_max} sessions`,
    key.requests_per_minute_max === null ? undefined : `${key.requests_per_minute_max} requests a minute`,
    key.daily_spend_usd_max === null ? undefined : `$${key.daily_spend_usd_max} a day`,
  ];
  return parts.filter((part) => part !== undefined).join(' · ');
}

/** Who is no admin looks after the own ones. */
const isInReach = ({ made_by }: KeyView): boolean => may('admin') || made_by?.id === person.value?.id;

function mintedOf({ created_at, made_by }: KeyView) {
  return (
    <>
      <span title={time(created_at)}>{ago(created_at)}</span>
      {made_by === null ? null : <div class="address">by {made_by.email ?? 'an account that is gone'}</div>}
    </>
  );
}
