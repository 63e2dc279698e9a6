// The settings of a request: fallbacks, models for comparison, language, vocabulary and redaction, and the options of the model.
import type { Signal } from '@preact/signals';
import type { Preference } from '../../../api/choice.ts';
import type { Model } from '../../../api/models.ts';
import type { Redaction } from '../../../api/vocabulary.ts';
import { ModelPicker } from '../../controls/model-picker.tsx';
import { Prose } from '../../controls/notice.tsx';
import { acceptedBy, choicesOf, type Property, propertiesOf, type Schema } from '../../data/json-schema.ts';
import { isChosen, type SessionRequest } from './code.ts';

/** Models compared with the first. */
const OTHERS_MAX = 3;

interface SetUpProps {
  models: readonly Model[];
  request: Signal<SessionRequest>;
  others: Signal<readonly string[]>;
}

export function SetUp({ models, request, others }: SetUpProps) {
  const set = (part: Partial<SessionRequest>) => {
    request.value = { ...request.value, ...part };
  };
  const { model, fallbacks, providerParams } = request.value;
  const chosen = models.find(({ id }) => id === model);
  const rest = models.filter(({ id }) => id !== model);
  return (
    <section class="card">
      <div class="stack close">
        {isChosen(request.value) ? <Preferred request={request.value} set={set} /> : null}
        <Several
          label="Fallbacks, in order"
          all={rest}
          chosen={fallbacks}
          most={8}
          choose={(ids) => set({ fallbacks: ids })}
        />
        <Several
          label="Compare with"
          all={rest}
          chosen={others.value}
          most={OTHERS_MAX}
          choose={(ids) => {
            others.value = ids;
          }}
        />
      </div>
      <details open={isChosen(request.value)}>
        <summary>Language, vocabulary, redaction</summary>
        <Spoken request={request.value} set={set} />
      </details>
      {chosen === undefined ? null : (
        <details key={model}>
          <summary>Options of {chosen.name}</summary>
          <OptionsForm
            schema={chosen.provider_params as Schema}
            params={providerParams}
            change={(changed) => set({ providerParams: changed })}
          />
        </details>
      )}
    </section>
  );
}

const PREFERRED: Readonly<Record<Preference, string>> = {
  reliability: 'Fewest failures',
  latency: 'Earliest words',
  price: 'Lowest price',
  accuracy: 'Fewest wrong words',
};

function Preferred({ request: { prefer }, set }: SpokenProps) {
  return (
    <label class="field">
      Prefer
      <select value={prefer} onChange={(event) => set({ prefer: event.currentTarget.value })}>
        <option value="">As usual: fewest failures</option>
        {Object.entries(PREFERRED).map(([name, words]) => (
          <option key={name} value={name}>
            {words}
          </option>
        ))}
      </select>
    </label>
  );
}

interface SeveralProps {
  label: string;
  all: readonly Model[];
  chosen: readonly string[];
  most: number;
  choose(ids: string[]): void;
}

/** Chosen one after the other, so that their order is the user's. */
function Several({ label, all, chosen, most, choose }: SeveralProps) {
  return (
    <div class="field">
      <ModelPicker
        label={label}
        models={all.filter(({ id }) => !chosen.includes(id))}
        value=""
        placeholder={chosen.length === 0 ? 'none' : 'one more'}
        disabled={chosen.length >= most}
        choose={(id) => choose([...chosen, id])}
      />
      {chosen.map((id) => (
        <div class="chosen" key={id}>
          <code class="small">{id}</code>
          <button
            type="button"
            class="plain"
            aria-label={`Remove ${id}`}
            onClick={() => choose(chosen.filter((each) => each !== id))}
          >
            ×
          </button>
        </div>
      ))}
    </div>
  );
}

const KINDS: Readonly<Record<Redaction, string>> = {
  pii: 'Personal data',
  pci: 'Card data',
  phi: 'Health data',
  numbers: 'Numbers',
  card: 'Cards (by the gateway)',
  iban: 'IBANs (by the gateway)',
  phone: 'Phone numbers (by the gateway)',
  email: 'Mail addresses (by the gateway)',
  national_id: 'National ids (by the gateway)',
  date_of_birth: 'Dates of birth (by the gateway)',
  name: 'Names (by a service)',
  address: 'Addresses (by a service)',
};
const ALL = Object.keys(KINDS) as Redaction[];

interface SpokenProps {
  request: SessionRequest;
  set(part: Partial<SessionRequest>): void;
}

/** Settings with the same names for every model. */
function Spoken({ request, set }: SpokenProps) {
  const { language, languages, diarization, keyterms, vocabularyBoost, prompt, redact } = request;
  return (
    <div class="stack close">
      <Line
        label="Language"
        value={language}
        placeholder="as the model has it"
        change={(text) => set({ language: text })}
      />
      <Line
        label="Languages that may be spoken, separated by commas"
        value={languages.join(', ')}
        placeholder="none but that"
        change={(text) => set({ languages: listIn(text) })}
      />
      <Line
        label="Names and terms, separated by commas"
        value={keyterms.join(', ')}
        placeholder="none"
        change={(text) => set({ keyterms: listIn(text) })}
      />
      <Line
        label="Boost for these terms, from 0 to 1"
        value={vocabularyBoost === undefined ? '' : String(vocabularyBoost)}
        placeholder="as the model has it"
        change={(text) => set({ vocabularyBoost: boostIn(text) })}
      />
      <Line label="Prompt" value={prompt} placeholder="what is spoken about" change={(text) => set({ prompt: text })} />
      <fieldset>
        <legend>Black out</legend>
        {ALL.map((kind) => (
          <label class="choice" key={kind}>
            <input
              type="checkbox"
              checked={redact.includes(kind)}
              onChange={({ currentTarget: { checked } }) =>
                set({ redact: ALL.filter((each) => (each === kind ? checked : redact.includes(each))) })
              }
            />
            {KINDS[kind]}
          </label>
        ))}
      </fieldset>
      <label class="choice">
        <input
          type="checkbox"
          checked={diarization}
          onChange={(event) => set({ diarization: event.currentTarget.checked })}
        />
        Tell speakers apart
      </label>
    </div>
  );
}

interface LineProps {
  label: string;
  value: string;
  placeholder: string;
  change(text: string): void;
}

const Line = ({ label, value, placeholder, change }: LineProps) => (
  <label class="field">
    {label}
    <input
      defaultValue={value}
      placeholder={placeholder}
      onChange={(event) => change(event.currentTarget.value.trim())}
    />
  </label>
);

const listIn = (text: string): string[] =>
  text
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '');

/** Undefined for anything but such a number. */
function boostIn(text: string): number | undefined {
  const boost = text === '' ? Number.NaN : Number(text);
  return boost >= 0 && boost <= 1 ? boost : undefined;
}

interface OptionsFormProps {
  schema: Schema;
  params: Readonly<Record<string, unknown>>;
  change(params: Record<string, unknown>): void;
}

/** The options of a model, as fields made of its JSON schema; empty ones are left out. */
function OptionsForm({ schema, params, change }: OptionsFormProps) {
  const set = (name: string, value: unknown) => {
    const { [name]: _, ...others } = params;
    change(value === undefined ? others : { ...others, [name]: value });
  };
  return (
    <div class="narrow">
      {propertiesOf(schema).map((property) => (
        <Option
          key={property.name}
          property={property}
          value={params[property.name]}
          set={(value) => set(property.name, value)}
        />
      ))}
    </div>
  );
}

interface OptionProps {
  property: Property;
  value: unknown;
  set(value: unknown): void;
}

function Option({ property: { name, schema, required }, value, set }: OptionProps) {
  const choices = schema.type === 'boolean' ? [true, false] : choicesOf(schema);
  return (
    <div class="field">
      <label for={`option-${name}`}>
        <code>{name}</code>
        {required ? ' (required)' : ''}
      </label>
      {choices === undefined ? (
        <input
          id={`option-${name}`}
          defaultValue={shown(value)}
          placeholder={acceptedBy(schema)}
          onChange={(event) => set(read(event.currentTarget.value, schema))}
        />
      ) : (
        <select
          id={`option-${name}`}
          value={shown(value)}
          onChange={(event) => set(choices.find((each) => String(each) === event.currentTarget.value))}
        >
          <option value="">As usual</option>
          {choices.map((choice) => (
            <option key={String(choice)}>{String(choice)}</option>
          ))}
        </select>
      )}
      <small>
        <Prose text={schema.description ?? ''} />
      </small>
    </div>
  );
}

const shown = (value: unknown): string => {
  if (value === undefined) return '';
  if (Array.isArray(value)) return value.join(', ');
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
};

/** The typed text as a value of the schema; a text that is not one is sent unchanged, and the gateway says what it accepts. */
function read(text: string, schema: Schema): unknown {
  const trimmed = text.trim();
  if (trimmed === '') return undefined;
  const types = [schema, ...(schema.anyOf ?? [])].map(({ type }) => type);
  if (types.includes('array')) return trimmed.split(',').map((item) => item.trim());
  if (types.includes('object')) return parsed(trimmed);
  const number = Number(trimmed);
  return (types.includes('number') || types.includes('integer')) && Number.isFinite(number) ? number : trimmed;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
