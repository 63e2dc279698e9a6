// Which sessions are wanted: what is chosen stands in the address, and goes to the gateway as it is. Each choice is a chip that
// takes it back.
import type { TargetedEvent } from 'preact';
import { useId } from 'preact/hooks';
import type { KeyView } from '../../../api/console/console.ts';
import type { ModelList } from '../../../api/models.ts';
import { useAnswer } from '../../data/answer.ts';
import { ask, go } from '../../data/location.ts';
import { nameOf } from '../../data/names.ts';
import { may } from '../../data/person.ts';
import { reasonText } from '../../data/reasons.ts';

const LABELS = {
  state: 'State',
  model: 'Model or provider',
  key: 'Key',
  from: 'From',
  to: 'Until before',
  reason: 'Ended',
  id: 'Id',
} as const;
type Filter = keyof typeof LABELS;
export const FILTERS = Object.keys(LABELS) as Filter[];

/** Such as sessions end with; there are also the codes of errors. */
const REASONS = [
  'client_closed',
  'completed',
  'idle',
  'too_long',
  'credit',
  'upstream',
  'upstream_exhausted',
  'draining',
  'node_lost',
  'recovered',
  'answer_untaken',
  'error',
];
/** An id that is no beginning: it is found whatever its age. */
const WHOLE_ID = /^(?:ses_[a-z0-9]{6}[0-9a-f]{32}|req_[0-9a-z]{20,})$/;

export function SessionFilter({ wanted }: { wanted: URLSearchParams }) {
  const choose = ({ currentTarget: form }: TargetedEvent<HTMLFormElement>) => {
    const values = [...new FormData(form)].map(([name, value]) => [name, String(value).trim()]);
    const said = new URLSearchParams(values.filter(([, value]) => value !== ''));
    const id = said.get('id') ?? '';
    if (WHOLE_ID.test(id)) go(`/sessions/${id}`);
    else ask(said);
  };
  const without = (name: string) => ask(new URLSearchParams([...wanted].filter(([each]) => each !== name)));
  const value = (name: Filter) => wanted.get(name) ?? '';
  return (
    <search class="stack close">
      <details class="filters" open={wanted.size === 0 ? undefined : true}>
        <summary>Filter</summary>
        <form
          // Filled from the address; what is being typed is left alone until the address changes.
          key={wanted.toString()}
          class="narrow"
          onChange={choose}
          onSubmit={(event) => {
            event.preventDefault();
            choose(event);
          }}
        >
          <label class="field">
            Id, or how it begins
            <input name="id" type="search" defaultValue={value('id')} placeholder="ses_… or req_…" maxLength={200} />
          </label>
          <Choice name="state" value={value('state')} options={[['live'], ['ended']]} />
          <Models value={value('model')} />
          <Keys value={value('key')} />
          <Choice
            name="reason"
            value={value('reason')}
            options={[...new Set([...REASONS, value('reason')])]
              .filter((reason) => reason !== '')
              .map((reason) => [reason, reasonText(reason)])}
          />
          <label class="field">
            From, UTC
            <input name="from" type="date" defaultValue={value('from')} />
          </label>
          <label class="field">
            Until before, UTC
            <input name="to" type="date" defaultValue={value('to')} />
          </label>
        </form>
      </details>
      {wanted.size === 0 ? null : (
        <ul class="plain-list row" aria-label="Filters in force">
          {[...wanted].map(([name, said]) => (
            <li key={name}>
              <button type="button" class="filter-chip" onClick={() => without(name)}>
                {LABELS[name as Filter]}: {wordsOf(name, said)}
                <span aria-hidden="true">×</span>
                <span class="unseen">, remove this filter</span>
              </button>
            </li>
          ))}
          {wanted.size < 2 ? null : (
            <li>
              <button type="button" class="plain" onClick={() => ask(new URLSearchParams())}>
                Remove all
              </button>
            </li>
          )}
        </ul>
      )}
    </search>
  );
}

function wordsOf(name: string, value: string): string {
  if (name === 'reason') return reasonText(value);
  return name === 'key' ? (nameOf(value) ?? value) : value;
}

interface ChoiceProps {
  name: Filter;
  value: string;
  options: readonly (readonly [value: string, text?: string])[];
}

const Choice = ({ name, value, options }: ChoiceProps) => (
  <label class="field">
    {LABELS[name]}
    <select name={name}>
      <option value="">any</option>
      {options.map(([option, text]) => (
        <option key={option} value={option} selected={option === value}>
          {text ?? option}
        </option>
      ))}
    </select>
  </label>
);

function Models({ value }: { value: string }) {
  const id = useId();
  const { value: models } = useAnswer<ModelList>('models');
  const slugs = models?.data.map((model) => model.id) ?? [];
  const providers = [...new Set(slugs.map((slug) => slug.split('/')[0] as string))];
  return (
    <label class="field">
      {LABELS.model}
      <input name="model" defaultValue={value} list={id} maxLength={200} autocomplete="off" placeholder="any" />
      <datalist id={id}>
        {[...providers, ...slugs].map((option) => (
          <option key={option} value={option} />
        ))}
      </datalist>
    </label>
  );
}

/** Not everyone may see them. */
function Keys({ value }: { value: string }) {
  const { value: keys } = useAnswer<{ data: KeyView[] }>(may('developer') ? 'keys' : undefined);
  if (keys === undefined && value === '') return null;
  const known = keys?.data.map(({ id, name, display }) => [id, `${name} (${display})`] as const) ?? [];
  const isKnown = value === '' || known.some(([id]) => id === value);
  return <Choice name="key" value={value} options={isKnown ? known : [[value], ...known]} />;
}
