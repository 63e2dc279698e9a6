// The organisation's own credentials at providers: what runs on them costs 0.00 here.
import { useSignal } from '@preact/signals';
import type {
  KeyedProviderView,
  ProviderKeyAnswer,
  ProviderKeyList,
  ProviderKeyView,
} from '../../../api/console/provider-keys.ts';
import type { ModelList } from '../../../api/models.ts';
import { Act } from '../../controls/act.tsx';
import { Dialog } from '../../controls/dialog.tsx';
import { Badge, Notice, type Tone } from '../../controls/notice.tsx';
import { Page, Shown } from '../../controls/page.tsx';
import { Table } from '../../controls/table.tsx';
import { useAnswer } from '../../data/answer.ts';
import { ask } from '../../data/api.ts';
import { ago } from '../../data/format.ts';
import { may } from '../../data/person.ts';
import { ProviderKeyForm } from './provider-key-form.tsx';

const TONES: Record<ProviderKeyView['state'], Tone> = {
  untested: 'quiet',
  checking: 'busy',
  usable: 'good',
  failing: 'warn',
  disabled: 'bad',
  rejected: 'bad',
};

/** What a provider's models run on. */
interface Row {
  provider: KeyedProviderView;
  own: readonly ProviderKeyView[];
  /** Whether any of its models can be used; with no key of one's own, on the service's. */
  isUsable: boolean;
}

export function ProviderKeys() {
  const keys = useAnswer<ProviderKeyList>('provider-keys');
  const models = useAnswer<ModelList>('models');
  /** The provider for whose form is open; empty for any. */
  const adding = useSignal<string | undefined>(undefined);
  const warning = useSignal<string | null>(null);
  const told = (answer: ProviderKeyAnswer) => {
    warning.value = answer.warning;
    adding.value = undefined;
    keys.reload();
    models.reload();
  };
  const removed = () => {
    keys.reload();
    models.reload();
  };
  return (
    <Page
      title="Provider keys"
      about="With a key of your own, a provider bills you for its models, and they cost $0.00 here. Keys are sealed and never shown again."
      actions={
        may('admin') ? (
          <button type="button" class="primary" onClick={() => (adding.value = '')}>
            Add a key
          </button>
        ) : undefined
      }
    >
      {warning.value === null ? null : <Notice tone="warn">{warning.value}</Notice>}
      <Shown answer={keys}>
        {({ data, providers }) => (
          <>
            <Table
              caption="Providers"
              rows={rowsOf(providers, data, models.value)}
              idOf={({ provider: { name } }) => name}
              empty={<p>No provider takes keys here.</p>}
              columns={[
                { title: 'Provider', cell: ({ provider: { title } }) => title },
                { title: 'Runs on', cell: runsOn },
                { title: 'Tested', cell: ({ own }) => times(own.map(({ tested_at }) => tested_at)) },
                { title: 'Last used', cell: ({ own }) => times(own.map(({ used_at }) => used_at)) },
                {
                  title: 'Change',
                  cell: ({ provider, own }) =>
                    !may('admin') ? null : own.length === 0 ? (
                      <button type="button" onClick={() => (adding.value = provider.name)}>
                        Add <span class="unseen">a key of {provider.title}</span>
                      </button>
                    ) : (
                      own.map((key) => <Change key={key.id} of={key} told={told} removed={removed} />)
                    ),
                },
              ]}
            />
            {adding.value === undefined ? null : (
              <Dialog title="Add a key of your own" close={() => (adding.value = undefined)}>
                <ProviderKeyForm providers={providers} first={adding.value || undefined} done={told} />
              </Dialog>
            )}
          </>
        )}
      </Shown>
    </Page>
  );
}

/** Those with a key of one's own first, then those that can be used, then the others. */
function rowsOf(
  providers: readonly KeyedProviderView[],
  keys: readonly ProviderKeyView[],
  models: ModelList | undefined,
): Row[] {
  const usable = new Set(models?.data.filter(({ available }) => available).map(({ owned_by }) => owned_by));
  const rows = providers.map((provider) => ({
    provider,
    own: keys.filter((key) => key.provider === provider.name),
    isUsable: usable.has(provider.name),
  }));
  const rank = ({ own, isUsable }: Row) => (own.length > 0 ? 0 : isUsable ? 1 : 2);
  return rows.sort((one, other) => rank(one) - rank(other));
}

function runsOn({ own, isUsable }: Row) {
  if (own.length === 0)
    return <Badge tone={isUsable ? 'good' : 'quiet'}>{isUsable ? 'the service’s key' : 'no key'}</Badge>;
  return (
    <div class="stack tight">
      {own.map(({ id, name, last_four, state }) => (
        <div key={id} class="row">
          <span title={id}>
            {name} {last_four === '' ? null : <code>…{last_four}</code>}
          </span>
          <Badge tone={TONES[state]}>{state}</Badge>
        </div>
      ))}
    </div>
  );
}

const times = (moments: readonly (string | null)[]): string =>
  moments.map((at) => (at === null ? 'never' : ago(at))).join(', ');

interface ChangeProps {
  of: ProviderKeyView;
  told(answer: ProviderKeyAnswer): void;
  removed(): void;
}

const Change = ({ of: { id, name }, told, removed }: ChangeProps) => (
  <div class="row">
    <Act act={() => ask<ProviderKeyAnswer>('POST', `provider-keys/${id}/test`).then(told)}>Test</Act>
    <Act
      class="danger"
      act={() => ask('DELETE', `provider-keys/${id}`).then(removed)}
      sure={{
        title: `Remove “${name}”?`,
        text: 'New sessions use the service’s key again, where it has one, and are billed. Live sessions continue.',
        button: 'Remove the key',
      }}
    >
      Remove
    </Act>
  </div>
);
