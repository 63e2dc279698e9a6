// Which sessions are wanted: what is chosen stands in the address, and goes to the gateway as it is.
import type { TargetedEvent } from 'preact';
import { useId } from 'preact/hooks';
import type { KeyView } from '../../../api/console/console.ts';
import type { ModelList } from '../../../api/models.ts';
import { useAnswer } from '../../data/answer.ts';
import { ask, go } from '../../data/location.ts';

export const FILTERS = ['state', 'model', 'key', 'from', 'to', 'reason', 'id'] as const;

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
  const value = (name: string) => wanted.get(name) ?? '';
  return (
    <search>
      <form
        // Empty fields are those of a form that was never filled.
        key={wanted.size === 0 ? 'all' : 'some'}
        class="narrow"
        onChange={choose}
        onSubmit={(event) => {
          event.preventDefault();
          choose(event);
        }}
      >
        <label class="field">
          Id, or how it begins
          <input name="id" type="search" value={value('id')} placeholder="ses_… or req_…" maxLength={200} />
        </label>
        <label class="field">
          State
          <select name="state" value={value('state')}>
            <option value="">any</option>
            <option value="live">live</option>
            <option value="ended">ended</option>
          </select>
        </label>
        <Models value={value('model')} />
        <Keys value={value('key')} />
        <Suggested label="Ended because" name="reason" value={value('reason')} options={REASONS} />
        <label class="field">
          From, UTC
          <input name="from" type="date" value={value('from')} />
        </label>
        <label class="field">
          Until before, UTC
          <input name="to" type="date" value={value('to')} />
        </label>
      </form>
    </search>
  );
}

function Models({ value }: { value: string }) {
  const { value: models } = useAnswer<ModelList>('models');
  const slugs = models?.data.map(({ id }) => id) ?? [];
  const providers = [...new Set(slugs.map((slug) => slug.split('/')[0] as string))];
  return <Suggested label="Model or provider" name="model" value={value} options={[...providers, ...slugs]} />;
}

/** Not everybody may see them. */
function Keys({ value }: { value: string }) {
  const { value: keys } = useAnswer<{ data: KeyView[] }>('keys');
  if (keys === undefined && value === '') return null;
  return (
    <label class="field">
      Key
      <select name="key" value={value}>
        <option value="">any</option>
        {keys === undefined || !keys.data.some(({ id }) => id === value) ? (
          value === '' ? null : (
            <option value={value}>{value}</option>
          )
        ) : null}
        {keys?.data.map(({ id, name, display }) => (
          <option key={id} value={id}>
            {name} ({display})
          </option>
        ))}
      </select>
    </label>
  );
}

interface SuggestedProps {
  label: string;
  name: string;
  value: string;
  options: readonly string[];
}

function Suggested({ label, name, value, options }: SuggestedProps) {
  const id = useId();
  return (
    <label class="field">
      {label}
      <input name={name} value={value} list={id} maxLength={200} autocomplete="off" placeholder="any" />
      <datalist id={id}>
        {options.map((option) => (
          <option key={option} value={option} />
        ))}
      </datalist>
    </label>
  );
}
