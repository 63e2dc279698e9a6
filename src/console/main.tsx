import { render } from 'preact';
import { App } from './app.tsx';
import { readPerson } from './data/person.ts';

void readPerson();
render(<App />, document.getElementById('console') as HTMLElement);
