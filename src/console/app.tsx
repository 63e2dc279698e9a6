// The console as a whole: the login where nobody is logged in, else the menu and the page that the path names.
import { Link } from './controls/link.tsx';
import { Notice } from './controls/notice.tsx';
import { Page } from './controls/page.tsx';
import { PasswordQuestion } from './controls/password-question.tsx';
import { path, pathMembers } from './data/location.ts';
import { person, unknownBecause } from './data/person.ts';
import { Menu } from './menu.tsx';
import { Gate } from './pages/account/gate.tsx';
import { PAGES } from './pages.tsx';

export function App() {
  if (person.value === undefined)
    return unknownBecause.value === undefined ? null : <Unreachable why={unknownBecause.value} />;
  if (person.value === null) return <Gate />;
  return (
    <div class="frame">
      <a class="skip" href="#content">
        Skip to the page
      </a>
      <Menu />
      <Current />
      <PasswordQuestion />
    </div>
  );
}

function Current() {
  const current = path.value;
  for (const { path: pattern, page: Drawn } of PAGES) {
    const members = pathMembers(pattern, current);
    if (members !== undefined) return <Drawn key={`${person.value?.organisation.id} ${current}`} members={members} />;
  }
  return (
    <Page title="There is no such page">
      <p>
        <Link to="/">Go to the overview</Link>
      </p>
    </Page>
  );
}

function Unreachable({ why }: { why: string }) {
  return (
    <main class="gate">
      <section class="card">
        <h1>Voxgate</h1>
        <Notice tone="bad">{why}</Notice>
        <button type="button" onClick={() => location.reload()}>
          Try again
        </button>
      </section>
    </main>
  );
}
