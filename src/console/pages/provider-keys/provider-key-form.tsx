// A credential at a provider, by the form that the provider's own schema describes. It is tested before it is kept.
import { useSignal } from '@preact/signals';
import type { KeyedProviderView, ProviderKeyAnswer } from '../../../api/console/provider-keys.ts';
import { Field, Form, textOf } from '../../controls/form.tsx';
import { ask } from '../../data/api.ts';
import { choicesOf, type Member, membersOf, type Schema } from '../../data/json-schema.ts';

interface ProviderKeyFormProps {
  providers: readonly KeyedProviderView[];
  /** The one that is chosen at first. */
  first: string | undefined;
  done(answer: ProviderKeyAnswer): void;
}

export function ProviderKeyForm({ providers, first, done }: ProviderKeyFormProps) {
  const chosen = useSignal(first ?? providers[0]?.name ?? '');
  const provider = providers.find(({ name }) => name === chosen.value);
  const members = membersOf((provider?.fields ?? {}) as Schema);
  const send = async (values: FormData) => {
    const name = textOf(values, 'name');
    const fields = Object.fromEntries(
      members
        .map((member) => [member.name, textOf(values, `fields.${member.name}`)])
        .filter(([, value]) => value !== ''),
    );
    done(
      await ask<ProviderKeyAnswer>('POST', 'provider-keys', {
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
      {members.map((member) => (
        <CredentialField key={`${chosen.value} ${member.name}`} member={member} />
      ))}
      <Field label="Name" name="name" maxLength={100} hint="To tell it from others; the provider’s when empty." />
    </Form>
  );
}

function CredentialField({ member: { name, schema, required } }: { member: Member }) {
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
