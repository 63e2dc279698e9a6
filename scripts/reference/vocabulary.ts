// What becomes of the members that are the same for all vendors, provider by provider: as a request would be told.

import type { Mode } from '../../src/api/models.ts';
import { modelOf } from '../../src/api/slug.ts';
import { type Common, REDACTIONS } from '../../src/api/vocabulary.ts';
import { modeText } from '../../src/cli/models.ts';
import { mappedFor, type Spoken } from '../../src/live/failover/vocabulary.ts';
import type { ModelCard, Provider } from '../../src/vendors/kit/provider.ts';
import { offered } from './models.ts';
import { page } from './page.ts';

const WORDS = { honoured: 'yes', mapped: 'mapped', dropped: '–' } as const;
const TERMS: Common = { keyterms: ['Voxgate'], prompt: 'A call about an order.', vocabulary_boost: 0.5 };
const MEMBERS = ['language', 'languages', 'prompt', 'keyterms', 'diarization', 'redact', 'vocabulary_boost'] as const;

export const vocabularyPage = (): string =>
  page('Names, languages and prompts, by provider', 'src/vendors/*/options.ts', [
    `How each model applies the options that are the same for all providers ([Names, languages and prompts](../guides/vocabulary.md)). \`yes\` means as requested,
\`mapped\` in another way or in part, and \`–\` not at all. For \`redact\`, the table lists the supported kinds. The table is based on a request with a
language without a region, two languages of the model, one name and a short prompt. \`session_started.chain\` reports the result for your own request.`,
    ...offered().flatMap((provider) => [
      `## ${provider.title}`,
      { head: ['models', 'modes', ...MEMBERS.map((name) => `\`${name}\``)], rows: rowsOf(provider) },
    ]),
  ]);

/** Models of which all is the same are one row. */
function rowsOf(provider: Provider): string[][] {
  const all = provider.models.flatMap((card) => {
    const modes = card.modes.map((mode) => ({
      mode: modeText(mode, card.live_turns),
      cells: cellsOf(provider, card, mode),
    }));
    return [...grouped(modes, ({ cells }) => cells)].map((same) => ({
      id: `\`${modelOf(card.id)}\``,
      cells: [same.map(({ mode }) => mode).join(', '), ...(same[0]?.cells ?? [])],
    }));
  });
  return grouped(all, ({ cells }) => cells).map((same) => [
    same.map(({ id }) => id).join(', '),
    ...(same[0]?.cells ?? []),
  ]);
}

function grouped<Item>(items: readonly Item[], keyOf: (item: Item) => readonly string[]): Item[][] {
  const groups = new Map<string, Item[]>();
  for (const item of items) groups.set(keyOf(item).join('|'), [...(groups.get(keyOf(item).join('|')) ?? []), item]);
  return [...groups.values()];
}

function cellsOf(provider: Provider, card: ModelCard, mode: Mode): string[] {
  const known = card.languages.includes('*') ? ['en', 'fr'] : card.languages.filter((each) => !each.includes('-'));
  const language = known.includes('en') ? 'en' : known[0];
  const other = known.find((each) => each !== language);
  const outcomeOf = (param: string, asked: Omit<Spoken, 'mode'>) =>
    mappedFor(card, provider, { mode, ...asked }, {}).told.find((each) => each.param === param)?.outcome ?? 'dropped';
  const ask = (param: string, asked: Partial<Spoken>) => outcomeOf(param, { language, diarization: false, ...asked });
  const kinds = REDACTIONS.filter((kind) => ask('redact', { common: { redact: [kind] } }) !== 'dropped');
  const several = [language, other].flatMap((each) => each ?? []);
  return [
    WORDS[ask('language', {})],
    several.length < 2 ? '–' : WORDS[ask('languages', { language: undefined, common: { languages: several } })],
    ...['prompt', 'keyterms'].map((name) => WORDS[ask(name, { common: TERMS })]),
    WORDS[ask('diarization', { diarization: true })],
    kinds.length === 0 ? '–' : kinds.length === REDACTIONS.length ? 'yes' : kinds.join(', '),
    WORDS[ask('vocabulary_boost', { common: TERMS })],
  ];
}
