// Replacement rules as rows of a form: what is heard, what is written, how it has to match and in which language.
import { useSignal } from '@preact/signals';
import { useId, useLayoutEffect, useRef } from 'preact/hooks';
import type { Replacement } from '../../api/replacements.ts';
import { useFieldError } from './form.tsx';
import { Failure } from './notice.tsx';

/** Of the fields of a row. */
const NAMES = { from: 'replace_from', to: 'replace_to', match: 'replace_match', language: 'replace_language' } as const;

interface Row {
  id: number;
  rule: Partial<Replacement>;
}

/** The values are those that it begins with: what is typed stays when the form is drawn again. */
export function ReplacementRules({ rules }: { rules: readonly Replacement[] }) {
  const rows = useSignal<readonly Row[]>(rules.map((rule, id) => ({ id, rule })));
  const next = useRef(rules.length);
  const add = useRef<HTMLButtonElement>(null);
  const id = useId();
  const error = useFieldError('replace');
  const remove = (row: Row) => {
    rows.value = rows.value.filter((each) => each !== row);
    add.current?.focus();
  };
  return (
    <fieldset
      class="field"
      name="replace"
      tabIndex={-1}
      aria-describedby={error === undefined ? `${id}-hint` : `${id}-wrong ${id}-hint`}
    >
      <legend>Replacement rules</legend>
      {error === undefined ? null : (
        <div id={`${id}-wrong`}>
          <Failure of={error} />
        </div>
      )}
      <div class="stack close">
        {rows.value.map((row, at) => (
          <RuleRow key={row.id} row={row} number={at + 1} isNew={row.id >= rules.length} remove={() => remove(row)} />
        ))}
      </div>
      <div class="row">
        <button
          ref={add}
          type="button"
          onClick={() => {
            rows.value = [...rows.value, { id: next.current++, rule: {} }];
          }}
        >
          Add a rule
        </button>
      </div>
      <small id={`${id}-hint`}>
        Words that are written in another way in every transcript of this key: “vox gate” as “Voxgate”. Leave “Written”
        empty to leave the words out. Whole words match in any case, an exact text also within words.
      </small>
    </fieldset>
  );
}

interface RuleRowProps {
  row: Row;
  number: number;
  /** It was added here: its first field gets the focus. */
  isNew: boolean;
  remove(): void;
}

function RuleRow({ row: { rule }, number, isNew, remove }: RuleRowProps) {
  const first = useRef<HTMLInputElement>(null);
  // Before the next key is read: an effect would run after the first letters of a fast typist.
  useLayoutEffect(() => {
    if (isNew) first.current?.focus();
  }, []);
  return (
    <fieldset aria-label={`Rule ${number}`} class="narrow">
      <label class="field">
        Heard
        <input name={NAMES.from} defaultValue={rule.from} spellcheck={false} ref={first} />
      </label>
      <label class="field">
        Written
        <input name={NAMES.to} defaultValue={rule.to} spellcheck={false} />
      </label>
      <label class="field">
        Matches
        <select name={NAMES.match}>
          <option value="word">Whole words</option>
          <option value="literal" selected={rule.match === 'literal'}>
            Exact text
          </option>
        </select>
      </label>
      <label class="field">
        Language
        <input name={NAMES.language} defaultValue={rule.language} placeholder="any" spellcheck={false} />
      </label>
      <div class="row">
        <button type="button" aria-label={`Remove rule ${number}`} onClick={remove}>
          Remove
        </button>
      </div>
    </fieldset>
  );
}

/** Null where there is none. What a rule may be is for the gateway to say. */
export function rulesOf(values: FormData): Replacement[] | null {
  const all = (name: string) => values.getAll(name).map(String);
  const [to, match, language] = [all(NAMES.to), all(NAMES.match), all(NAMES.language)];
  const rules = all(NAMES.from).flatMap((from, at): Replacement[] => {
    const [written = '', tag = ''] = [to[at], language[at]?.trim()];
    if (from.trim() === '' && written.trim() === '') return [];
    return [
      {
        ...{ from, to: written },
        ...(match[at] === 'literal' ? { match: 'literal' } : {}),
        ...(tag === '' ? {} : { language: tag }),
      },
    ];
  });
  return rules.length === 0 ? null : rules;
}
