// The organisation that this login works in: another one of the person's, or a new one.
import { useSignal } from '@preact/signals';
import { Dialog } from './controls/dialog.tsx';
import { Field, Form, textOf } from './controls/form.tsx';
import { Failure } from './controls/notice.tsx';
import { ask } from './data/api.ts';
import { go } from './data/location.ts';
import { person, readPerson } from './data/person.ts';

const NEW = 'new';

export function Switcher() {
  const making = useSignal(false);
  const failure = useSignal<Error | undefined>(undefined);
  const who = person.value;
  if (who === null || who === undefined) return null;
  const arrive = async () => {
    await readPerson();
    go('/');
  };
  const choose = async (select: HTMLSelectElement) => {
    const wanted = select.value;
    if (wanted === NEW) {
      select.value = who.organisation.id;
      making.value = true;
      return;
    }
    failure.value = undefined;
    try {
      await ask('POST', 'organisation', { id: wanted });
      await arrive();
    } catch (error) {
      failure.value = error as Error;
      select.value = who.organisation.id;
    }
  };
  return (
    <div class="switcher">
      <select
        aria-label="Organisation"
        value={who.organisation.id}
        onChange={(event) => void choose(event.currentTarget)}
      >
        {who.organisations.map(({ id, name }) => (
          <option key={id} value={id}>
            {name}
          </option>
        ))}
        <option value={NEW}>New organisation…</option>
      </select>
      <Failure of={failure.value} />
      {making.value ? (
        <Dialog title="New organisation" close={() => (making.value = false)}>
          <p>It is prepaid, with members, keys and a bill of its own. You own it, and work in it from now on.</p>
          <Form
            button="Make it"
            send={async (values) => {
              await ask('POST', 'organisations', { name: textOf(values, 'name') });
              await arrive();
              making.value = false;
            }}
          >
            <Field label="Name" name="name" maxLength={100} required autofocus />
          </Form>
        </Dialog>
      ) : null}
    </div>
  );
}
