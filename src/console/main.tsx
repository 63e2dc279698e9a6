// The console as a whole: the login page without a login, else the menu and the page that the path names.
import { render } from 'preact';
import { PasswordPrompt } from './controls/actions.tsx';
import { Notice } from './controls/notice.tsx';
import { Link, Page } from './controls/page.tsx';
import { path, pathParams } from './data/location.ts';
import { person, personFailure, readPerson } from './data/organisation.ts';
import { Menu } from './menu.tsx';
import { Login } from './pages/login.tsx';
import { PAGES } from './pages.tsx';

function App() {
  if (person.value === undefined)
    return personFailure.value === undefined ? null : <Unreachable message={personFailure.value} />;
  if (person.value === null) return <Login />;
  return (
    <div class="frame">
      <a class="skip" href="#content">
        Skip to the page
      </a>
      <Menu />
      <CurrentPage />
      <PasswordPrompt />
    </div>
  );
}

function CurrentPage() {
  const current = path.value;
  for (const { path: pattern, page: Entry } of PAGES) {
    const params = pathParams(pattern, current);
    if (params !== undefined) return <Entry key={`${person.value?.organisation.id} ${current}`} params={params} />;
  }
  return (
    <Page title="There is no such page">
      <p>
        <Link to="/">Go to the overview</Link>
      </p>
    </Page>
  );
}

function Unreachable({ message }: { message: string }) {
  return (
    <main class="gate">
      <section class="card">
        <h1>Voxgate</h1>
        <Notice tone="bad">{message}</Notice>
        <button type="button" onClick={() => location.reload()}>
          Try again
        </button>
      </section>
    </main>
  );
}

void readPerson();
render(<App />, document.getElementById('console') as HTMLElement);
