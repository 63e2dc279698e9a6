// The menu: every page of the console, and who is logged in.
import { useSignal } from '@preact/signals';
import { Icon } from './controls/icon.tsx';
import { Link } from './controls/link.tsx';
import { path } from './data/location.ts';
import { logOut, may, person } from './data/person.ts';
import icon from './icon.svg';
import { ICONS } from './icons.ts';
import { GROUPS } from './pages.tsx';
import { Switcher } from './switcher.tsx';

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
                .map((page) => (
                  <li key={page.path}>
                    <Link to={page.path} aria-current={isCurrent(page.path) ? 'page' : undefined}>
                      <Icon svg={ICONS[page.path] ?? ''} /> {page.title}
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
