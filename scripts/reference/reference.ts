// The pages of docs/reference that are made from the code.
import type { Generator } from '../generator.ts';
import { clientPage } from './clients.ts';
import { commandPage } from './commands.ts';
import { configurationPage } from './configuration.ts';
import { endpointPage } from './endpoints.ts';
import { endPage } from './ends.ts';
import { errorPage } from './errors.ts';
import { eventPage } from './events.ts';
import { modelPage, pricePage } from './models.ts';
import { COMMAND } from './page.ts';
import { vocabularyPage } from './vocabulary.ts';

const PAGES = {
  clients: clientPage,
  commands: commandPage,
  configuration: configurationPage,
  endpoints: endpointPage,
  ends: endPage,
  errors: errorPage,
  events: eventPage,
  models: modelPage,
  prices: pricePage,
  vocabulary: vocabularyPage,
};

export const reference: Generator = {
  name: 'reference',
  command: COMMAND,
  async files() {
    const pages = Object.entries(PAGES).map(
      async ([name, text]) => [`docs/reference/${name}.md`, await text()] as const,
    );
    return new Map(await Promise.all(pages));
  },
};
