// The organisation's own credentials at providers: what runs on them costs 0.00 here.
import { useSignal } from '@preact/signals';
import type { ProviderKeyAnswer, ProviderKeyList, ProviderKeyView } from '../../../api/console/provider-keys.ts';
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

export function ProviderKeys() {
  const keys = useAnswer<ProviderKeyList>('provider-keys');
  const adding = useSignal(false);
  const warning = useSignal<string | null>(null);
  const told = (answer: ProviderKeyAnswer) => {
    warning.value = answer.warning;
    adding.value = false;
    keys.reload();
  };
  return (
    <Page
      title="Provider keys"
      about="With a key of your own, a provider’s models are billed by the provider to you, and cost $0.00 here. Keys are sealed, and never shown again."
      actions={
        may('admin') ? (
          <button type="button" class="primary" onClick={() => (adding.value = true)}>
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
              caption="Provider keys"
              rows={data}
              idOf={({ id }) => id}
              empty={<p>No key of your own yet: models run on the service’s keys, where it has them.</p>}
              columns={[
                {
                  title: 'Provider',
                  cell: ({ provider }) => providers.find(({ name }) => name === provider)?.title ?? provider,
                },
                { title: 'Name', cell: ({ name }) => name },
                { title: 'Ends in', cell: ({ last_four }) => (last_four === '' ? '' : <code>…{last_four}</code>) },
                { title: 'State', cell: ({ state }) => <Badge tone={TONES[state]}>{state}</Badge> },
                { title: 'Tested', cell: ({ tested_at }) => (tested_at === null ? 'never' : ago(tested_at)) },
                { title: 'Last used', cell: ({ used_at }) => (used_at === null ? 'never' : ago(used_at)) },
                {
                  title: 'Change',
                  cell: ({ id, name }) =>
                    !may('admin') ? null : (
                      <div class="row">
                        <Act act={() => ask<ProviderKeyAnswer>('POST', `provider-keys/${id}/test`).then(told)}>
                          Test
                        </Act>
                        <Act
                          class="danger"
                          act={() => ask('DELETE', `provider-keys/${id}`).then(keys.reload)}
                          sure={{
                            title: `Remove “${name}”?`,
                            text: 'New sessions run on the service’s key again, where it has one, and are billed. What is live goes on.',
                            button: 'Remove the key',
                          }}
                        >
                          Remove
                        </Act>
                      </div>
                    ),
                },
              ]}
            />
            {adding.value ? (
              <Dialog title="Add a key of your own" close={() => (adding.value = false)}>
                <ProviderKeyForm providers={providers} done={told} />
              </Dialog>
            ) : null}
          </>
        )}
      </Shown>
    </Page>
  );
}
