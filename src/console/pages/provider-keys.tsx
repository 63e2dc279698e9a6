// The organisation's own credentials at providers: what runs on them costs 0.00 here.
import { useSignal } from '@preact/signals';
import type {
  KeyedProviderView,
  ProviderKeyAnswer,
  ProviderKeyList,
  ProviderKeyView,
} from '../../api/console/console.ts';
import type { ModelList } from '../../api/models.ts';
import { ActionButton, Dialog } from '../controls/actions.tsx';
import { Field, Form, textOf } from '../controls/form.tsx';
import { Badge, Notice, type Tone } from '../controls/notice.tsx';
import { Loaded, Page } from '../controls/page.tsx';
import { Table } from '../controls/table.tsx';
import { request, useAnswer } from '../data/api.ts';
import { ago } from '../data/format.ts';
import { choicesOf, type Property, propertiesOf, type Schema } from '../data/json-schema.ts';
import { may } from '../data/organisation.ts';

const TONES: Record<ProviderKeyView['state'], Tone> = {
  untested: 'quiet',
  checking: 'busy',
  usable: 'good',
  failing: 'warn',
  disabled: 'bad',
  rejected: 'bad',
};

/** The keys that a provider's models run on. */
interface Row {
  provider: KeyedProviderView;
  own: readonly ProviderKeyView[];
  /** Whether any of its models can be used; without own keys, on the service's. */
  isUsable: boolean;
}

export function ProviderKeys() {
  const keys = useAnswer<ProviderKeyList>('provider-keys');
  const models = useAnswer<ModelList>('models');
  /** The provider for whose form is open; empty for any. */
  const adding = useSignal<string | undefined>(undefined);
  const warning = useSignal<string | null>(null);
  const saved = (answer: ProviderKeyAnswer) => {
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
      <Loaded answer={keys}>
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
                      own.map((key) => <Change key={key.id} of={key} saved={saved} removed={removed} />)
                    ),
                },
              ]}
            />
            {adding.value === undefined ? null : (
              <Dialog title="Add a key of your own" close={() => (adding.value = undefined)}>
                <ProviderKeyForm providers={providers} first={adding.value || undefined} done={saved} />
              </Dialog>
            )}
          </>
        )}
      </Loaded>
    </Page>
  );
}

/** Providers with own keys first, then usable ones, then the others. */
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
  saved(answer: ProviderKeyAnswer): void;
  removed(): void;
}

const Change = ({ of: { id, name }, saved, removed }: ChangeProps) => (
  <div class="row">
    <ActionButton action={() => request<ProviderKeyAnswer>('POST', `provider-keys/${id}/test`).then(saved)}>
      Test
    </ActionButton>
    <ActionButton
      class="danger"
      action={() => request('DELETE', `provider-keys/${id}`).then(removed)}
      confirm={{
        title: `Remove “${name}”?`,
        text: 'New sessions use the service’s key again, where it has one, and are billed. Live sessions continue.',
        button: 'Remove the key',
      }}
    >
      Remove
    </ActionButton>
  </div>
);

interface ProviderKeyFormProps {
  providers: readonly KeyedProviderView[];
  /** The one that is chosen at first. */
  first: string | undefined;
  done(answer: ProviderKeyAnswer): void;
}

/** The fields are those of the schema of the provider. A key is tested before it is stored. */
function ProviderKeyForm({ providers, first, done }: ProviderKeyFormProps) {
  const chosen = useSignal(first ?? providers[0]?.name ?? '');
  const provider = providers.find(({ name }) => name === chosen.value);
  const properties = propertiesOf((provider?.fields ?? {}) as Schema);
  const send = async (values: FormData) => {
    const name = textOf(values, 'name');
    const fields = Object.fromEntries(
      properties
        .map((property) => [property.name, textOf(values, `fields.${property.name}`)])
        .filter(([, value]) => value !== ''),
    );
    done(
      await request<ProviderKeyAnswer>('POST', 'provider-keys', {
        provider: chosen.value,
        fields,
        ...(name === '' ? {} : { name }),
      }),
    );
  };
  return (
    <Form button="Test and keep" send={send}>
      <label class="field">
        Provider
        <select name="provider" value={chosen.value} onChange={(event) => (chosen.value = event.currentTarget.value)}>
          {providers.map(({ name, title }) => (
            <option key={name} value={name}>
              {title}
            </option>
          ))}
        </select>
      </label>
      {properties.map((property) => (
        <CredentialField key={`${chosen.value} ${property.name}`} property={property} />
      ))}
      <Field label="Name" name="name" maxLength={100} hint="To tell it from others; the provider’s when empty." />
    </Form>
  );
}

function CredentialField({ property: { name, schema, required } }: { property: Property }) {
  const label = schema.title ?? name;
  const choices = choicesOf(schema);
  if (choices !== undefined) {
    return (
      <label class="field">
        {label}
        <select name={`fields.${name}`}>
          {required ? null : <option value="">As usual</option>}
          {choices.map((choice) => (
            <option key={String(choice)} value={String(choice)}>
              {String(choice)}
            </option>
          ))}
        </select>
      </label>
    );
  }
  return (
    <Field
      label={label}
      name={`fields.${name}`}
      type={schema.secret === true ? 'password' : 'text'}
      autocomplete="off"
      required={required}
      maxLength={schema.maxLength}
      hint={schema.description}
    />
  );
}
