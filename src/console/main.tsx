import { render } from 'preact';
import { App } from './app.tsx';
import { readPerson } from './data/person.ts';
import '@fontsource-variable/inter';
import './styles/index.css';

void readPerson();
render(<App />, document.getElementById('console') as HTMLElement);
