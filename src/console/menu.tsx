// The menu: the organisation, every page of the console, and who is logged in.
import { useSignal } from '@preact/signals';
import { Dialog, useAction } from './controls/actions.tsx';
import { Field, Form, textOf } from './controls/form.tsx';
import { Failure } from './controls/notice.tsx';
import { Link } from './controls/page.tsx';
import { Icon } from './controls/values.tsx';
import { request } from './data/api.ts';
import { go, path } from './data/location.ts';
import { logOut, may, person, readPerson } from './data/organisation.ts';
import icon from './icon.svg';
import { GROUPS } from './pages.tsx';

export function Menu() {
  const open = useSignal(false);
  return (
    <div class="menu" data-open={open.value}>
      <Link to="/" class="brand">
        <img src={icon} alt="" /> Voxgate
      </Link>
      <button type="button" class="menu-button" aria-expanded={open.value} onClick={() => (open.value = !open.value)}>
        Menu
      </button>
      <Switcher />
      <nav aria-label="Console">
        {GROUPS.map(({ title, pages }) => (
          <section key={title}>
            <h2>{title}</h2>
            <ul>
              {pages
                .filter(
                  ({ least = 'read_only', isForOperator }) => may(least) && (!isForOperator || person.value?.operator),
                )
                .map(({ path: to, title: name, icon: svg }) => (
                  <li key={to}>
                    <Link to={to} aria-current={isCurrent(to) ? 'page' : undefined}>
                      <Icon svg={svg} /> {name}
                    </Link>
                  </li>
                ))}
            </ul>
          </section>
        ))}
      </nav>
      <footer>
        <span>{person.value?.email}</span>
        <span class="row">
          <a href="/docs/guides/console">Guide</a>
          <a href="/docs">Documents</a>
          <button type="button" class="plain" onClick={logOut}>
            Log out
          </button>
        </span>
      </footer>
    </div>
  );
}

const isCurrent = (page: string): boolean => path.value === page || (page !== '/' && path.value.startsWith(`${page}/`));

const NEW = 'new';

/** Switches this login to another organisation of the person, or creates one. */
function Switcher() {
  const isCreating = useSignal(false);
  const { failure, run } = useAction();
  const who = person.value;
  if (who === null || who === undefined) return null;
  const enter = async () => {
    await readPerson();
    go('/');
  };
  const choose = async (select: HTMLSelectElement) => {
    const id = select.value;
    const isNew = id === NEW;
    isCreating.value = isNew;
    const isEntered = !isNew && (await run(() => request('POST', 'organisation', { id }).then(enter)));
    if (!isEntered) select.value = who.organisation.id;
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
      <Failure of={failure} />
      {isCreating.value ? (
        <Dialog title="New organisation" close={() => (isCreating.value = false)}>
          <p>It is prepaid, with members, keys and a bill of its own. You own it, and work in it from now on.</p>
          <Form
            button="Make it"
            send={async (values) => {
              await request('POST', 'organisations', { name: textOf(values, 'name') });
              await enter();
              isCreating.value = false;
            }}
          >
            <Field label="Name" name="name" maxLength={100} required autofocus />
          </Form>
        </Dialog>
      ) : null}
    </div>
  );
}
