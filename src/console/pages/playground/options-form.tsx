// The options of a model as fields, out of the JSON Schema that the gateway gives; what is empty is left out.
import { Prose } from '../../controls/prose.tsx';
import { acceptedBy, choicesOf, type Member, membersOf, type Schema } from '../../data/json-schema.ts';

interface OptionsFormProps {
  schema: Schema;
  params: Readonly<Record<string, unknown>>;
  change(params: Record<string, unknown>): void;
}

export function OptionsForm({ schema, params, change }: OptionsFormProps) {
  const set = (name: string, value: unknown) => {
    const { [name]: _, ...others } = params;
    change(value === undefined ? others : { ...others, [name]: value });
  };
  return (
    <div class="narrow">
      {membersOf(schema).map((member) => (
        <Option
          key={member.name}
          member={member}
          value={params[member.name]}
          set={(value) => set(member.name, value)}
        />
      ))}
    </div>
  );
}

function Option({
  member: { name, schema, required },
  value,
  set,
}: {
  member: Member;
  value: unknown;
  set(value: unknown): void;
}) {
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

/** What was typed, as the schema wants it; a value that is none is sent as it is, and the gateway says what it takes. */
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
