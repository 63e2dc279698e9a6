// The catalogue: which models there are, what each takes and can do, what it costs, and how it is doing.
import { useSignal } from '@preact/signals';
import formatting from 'heroicons/24/outline/chat-bubble-bottom-center-text.svg?raw';
import interims from 'heroicons/24/outline/chat-bubble-left-ellipsis.svg?raw';
import times from 'heroicons/24/outline/clock.svg?raw';
import file from 'heroicons/24/outline/document-text.svg?raw';
import detection from 'heroicons/24/outline/language.svg?raw';
import live from 'heroicons/24/outline/microphone.svg?raw';
import redaction from 'heroicons/24/outline/shield-check.svg?raw';
import speakers from 'heroicons/24/outline/users.svg?raw';
import type { Model, ModelList, Price } from '../../api/models.ts';
import { Badge, type Tone } from '../controls/notice.tsx';
import { Link, Loaded, Page } from '../controls/page.tsx';
import { Table } from '../controls/table.tsx';
import { Icon } from '../controls/values.tsx';
import { useAnswer } from '../data/api.ts';
import { usd } from '../data/format.ts';
import { fitsSearch, languageName, usableFirst } from '../data/model-search.ts';
import { useUsed } from '../data/organisation.ts';

const MODES = [
  ['live', 'live', live],
  ['batch', 'files', file],
] as const;

/** Capabilities that are worth a word: the word and its icon. */
const ABILITIES = {
  diarization: ['speakers', speakers],
  word_timestamps: ['word times', times],
  interim_results: ['interims', interims],
  formatting: ['formatting', formatting],
  redaction: ['redaction', redaction],
  language_detection: ['language detection', detection],
} as const;
type Ability = keyof typeof ABILITIES;
const ALL_ABILITIES = Object.keys(ABILITIES) as Ability[];

export const STATUS_TONES: Record<Model['status'], Tone> = { up: 'good', degraded: 'warn', down: 'bad' };

/** `$0.0043 / min`; a dash where the mode is not offered. */
export function priceOf(price: Price | undefined): string {
  if (price === undefined) return '–';
  if (price.free === true) return 'free';
  return `${usd(price.amount)} / ${price.unit === 'minute' ? 'min' : 'session'}`;
}

export const abilitiesOf = (capabilities: Model['capabilities']): string[] =>
  ALL_ABILITIES.filter((name) => capabilities[name]).map((name) => ABILITIES[name][0]);

const EVERY_MS = 15_000;

interface Filter {
  words: string;
  mode: string;
  ability: string;
  language: string;
  usableOnly: boolean;
  cheapestFirst: boolean;
}

const ALL: Filter = { words: '', mode: '', ability: '', language: '', usableOnly: false, cheapestFirst: false };

export function Models() {
  const models = useAnswer<ModelList>('models', EVERY_MS);
  const filter = useSignal<Filter>(ALL);
  const set = (part: Partial<Filter>) => {
    filter.value = { ...filter.value, ...part };
  };
  return (
    <Page
      title="Models"
      about="Every model is addressed by its slug, and any of them can be the fallback of any other."
    >
      <Loaded answer={models}>
        {({ data }) => (
          <>
            <FilterForm filter={filter.value} set={set} languages={languagesOf(data)} />
            <AbilityLegend />
            <Groups
              models={chosen(data, filter.value)}
              isAll={Object.values(filter.value).every((part) => part === '' || part === false)}
              isOrdered={filter.value.cheapestFirst}
            />
          </>
        )}
      </Loaded>
    </Page>
  );
}

interface FilterProps {
  filter: Filter;
  set(part: Partial<Filter>): void;
  languages: readonly string[];
}

function FilterForm({ filter, set, languages }: FilterProps) {
  return (
    <search class="narrow">
      <label class="field">
        Search
        <input
          type="search"
          placeholder="french medical"
          value={filter.words}
          onInput={(event) => set({ words: event.currentTarget.value })}
        />
      </label>
      <Choice label="Mode" value={filter.mode} options={['batch', 'live']} choose={(mode) => set({ mode })} />
      <Choice
        label="Language"
        value={filter.language}
        options={languages}
        textOf={languageName}
        choose={(language) => set({ language })}
      />
      <Choice
        label="Can"
        value={filter.ability}
        options={ALL_ABILITIES}
        textOf={(name) => ABILITIES[name as Ability][0]}
        choose={(ability) => set({ ability })}
      />
      <div class="stack close">
        <label class="choice">
          <input
            type="checkbox"
            checked={filter.usableOnly}
            onChange={(event) => set({ usableOnly: event.currentTarget.checked })}
          />
          Usable now
        </label>
        <label class="choice">
          <input
            type="checkbox"
            checked={filter.cheapestFirst}
            onChange={(event) => set({ cheapestFirst: event.currentTarget.checked })}
          />
          Cheapest first
        </label>
      </div>
    </search>
  );
}

interface ChoiceProps {
  label: string;
  value: string;
  options: readonly string[];
  textOf?(option: string): string;
  choose(option: string): void;
}

function Choice({ label, value, options, textOf = (option) => option, choose }: ChoiceProps) {
  return (
    <label class="field">
      {label}
      <select value={value} onChange={(event) => choose(event.currentTarget.value)}>
        <option value="">Any</option>
        {options.map((option) => (
          <option key={option} value={option}>
            {textOf(option)}
          </option>
        ))}
      </select>
    </label>
  );
}

interface GroupsProps {
  models: readonly Model[];
  /** Whether no filter is set. */
  isAll: boolean;
  /** Whether they are sorted over all providers. */
  isOrdered: boolean;
}

/** By provider, usable models first. Providers without a key are folded, except in a search. */
function Groups({ models, isAll, isOrdered }: GroupsProps) {
  const used = useUsed('model');
  if (models.length === 0)
    return <div class="table empty">No models match. Remove a filter, or search for fewer words.</div>;
  if (isOrdered) return <ModelTable caption="Models" models={models} used={used} />;
  const names = [...new Set(usableFirst(models).map(({ owned_by }) => owned_by))];
  return (
    <>
      {names.map((name) => {
        const own = models.filter(({ owned_by }) => owned_by === name);
        const isUsable = own.some(({ available }) => available);
        return (
          <details key={`${name} ${isAll}`} class="provider" open={isUsable || !isAll}>
            <summary>
              <span class="monogram" aria-hidden="true">
                {name.slice(0, 1).toUpperCase()}
              </span>
              <strong>{name}</strong>
              <span class="quiet">{own.length === 1 ? '1 model' : `${own.length} models`}</span>
              {isUsable ? null : <Badge tone="quiet">no key</Badge>}
            </summary>
            <ModelTable caption={`Models of ${name}`} models={own} used={used} />
          </details>
        );
      })}
    </>
  );
}

interface ModelTableProps {
  caption: string;
  models: readonly Model[];
  used: ReadonlySet<string> | undefined;
}

function ModelTable({ caption, models, used }: ModelTableProps) {
  return (
    <Table
      caption={caption}
      rows={models}
      idOf={({ id }) => id}
      empty={null}
      columns={[
        {
          title: 'Model',
          cell: ({ id, name }) => (
            <div>
              <Link to={`/models/${id}`}>{name}</Link>
              <br />
              <code class="small">{id}</code>
            </div>
          ),
        },
        { title: 'Takes', cell: ({ modes }) => <ModeIcons modes={modes} /> },
        { title: 'Can', cell: ({ capabilities }) => <AbilityIcons capabilities={capabilities} /> },
        { title: 'Languages', cell: ({ languages }) => (languages.includes('*') ? 'many' : shortened(languages)) },
        { title: 'Files', isNumber: true, cell: ({ pricing }) => priceOf(pricing.batch) },
        { title: 'Live', isNumber: true, cell: ({ pricing }) => priceOf(pricing.live) },
        { title: 'State', cell: ({ id, available, status }) => stateOf(available, status, used?.has(id) ?? true) },
      ]}
    />
  );
}

function stateOf(available: boolean, status: Model['status'], isUsed: boolean) {
  if (!available) return <Badge tone="quiet">no key</Badge>;
  if (status === 'up' && !isUsed) return <Badge tone="quiet">not used yet</Badge>;
  return <Badge tone={STATUS_TONES[status]}>{status}</Badge>;
}

function chosen(
  models: readonly Model[],
  { words, mode, ability, language, usableOnly, cheapestFirst }: Filter,
): Model[] {
  const fits = (model: Model) =>
    fitsSearch(model, words) &&
    (mode === '' || model.modes.some((each) => each === mode)) &&
    (ability === '' || model.capabilities[ability as Ability] === true) &&
    (language === '' || model.languages.includes('*') || model.languages.includes(language)) &&
    (!usableOnly || model.available);
  const found = models.filter(fits);
  if (!cheapestFirst) return found;
  const amount = ({ pricing }: Model) =>
    Number((mode === 'batch' ? pricing.batch : (pricing.live ?? pricing.batch))?.amount ?? Infinity);
  return found.sort((one, other) => amount(one) - amount(other));
}

const languagesOf = (models: readonly Model[]): string[] =>
  [...new Set(models.flatMap(({ languages }) => languages))].filter((language) => language !== '*').sort();

const shortened = (languages: readonly string[]): string =>
  languages.length > 4 ? `${languages.slice(0, 3).join(', ')} and ${languages.length - 3} more` : languages.join(', ');

/** Each says its word to the pointer and to screen readers. */
const Labelled = ({ svg, text }: { svg: string; text: string }) => (
  <span class="ability" title={text}>
    <Icon svg={svg} />
    <span class="unseen">{text} </span>
  </span>
);

const ModeIcons = ({ modes }: Pick<Model, 'modes'>) => (
  <span class="abilities">
    {MODES.filter(([mode]) => modes.includes(mode)).map(([mode, text, svg]) => (
      <Labelled key={mode} svg={svg} text={text} />
    ))}
  </span>
);

const AbilityIcons = ({ capabilities }: Pick<Model, 'capabilities'>) => (
  <span class="abilities">
    {ALL_ABILITIES.filter((name) => capabilities[name]).map((name) => (
      <Labelled key={name} svg={ABILITIES[name][1]} text={ABILITIES[name][0]} />
    ))}
  </span>
);

const AbilityLegend = () => (
  <p class="abilities legend quiet small">
    {[...MODES.map(([, text, svg]) => [text, svg] as const), ...Object.values(ABILITIES)].map(([text, svg]) => (
      <span key={text} class="ability">
        <Icon svg={svg} /> {text}
      </span>
    ))}
  </p>
);
