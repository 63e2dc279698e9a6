// Forms: labelled fields, and what is wrong with them.
import { useSignal } from '@preact/signals';
import {
  type AllHTMLAttributes,
  type ComponentChildren,
  createContext,
  type TargetedEvent,
  type TargetedSubmitEvent,
} from 'preact';
import { useContext, useId } from 'preact/hooks';
import { ApiError } from '../data/api.ts';
import { Failure } from './notice.tsx';

type InputProps =
  | 'required'
  | 'autofocus'
  | 'autocomplete'
  | 'minLength'
  | 'maxLength'
  | 'min'
  | 'max'
  | 'pattern'
  | 'inputMode'
  | 'placeholder';

interface LabelProps {
  label: string;
  name: string;
  hint?: ComponentChildren;
}

interface FieldProps extends LabelProps, Pick<AllHTMLAttributes<HTMLInputElement>, InputProps> {
  type?: 'text' | 'email' | 'password' | 'number' | 'datetime-local' | 'search';
  value?: string | number | undefined;
}

interface FormError {
  error: Error;
  /** The name of the field that is wrong; undefined for the form as a whole. */
  field: string | undefined;
}

const CurrentError = createContext<FormError | undefined>(undefined);

/** What the gateway says is wrong with a field, for controls of several inputs. */
export function useFieldError(name: string): Error | undefined {
  const current = useContext(CurrentError);
  return current?.field === name ? current.error : undefined;
}

/** A line of a form. The value is the one it begins with: what is typed stays when the form is drawn again. */
export function Field({ label, hint, type = 'text', value, ...rest }: FieldProps) {
  return (
    <Labelled label={label} name={rest.name} hint={hint}>
      {(described) => <input {...({ type, defaultValue: value, ...described, ...rest } as object)} />}
    </Labelled>
  );
}

/** Several lines of a form. */
export function TextArea({ label, hint, name, value, rows }: LabelProps & { value: string; rows: number }) {
  return (
    <Labelled label={label} name={name} hint={hint}>
      {(described) => (
        <textarea {...({ name, rows, defaultValue: value, spellcheck: false, ...described } as object)} />
      )}
    </Labelled>
  );
}

/** @param children draws the field with the attributes that tie it to its label, hint and error */
function Labelled({ label, name, hint, children }: LabelProps & { children(described: object): ComponentChildren }) {
  const id = useId();
  const error = useFieldError(name);
  const by = [...(error === undefined ? [] : [`${id}-wrong`]), ...(hint === undefined ? [] : [`${id}-hint`])];
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {children({
        id,
        ...(error === undefined ? {} : { 'aria-invalid': 'true' }),
        ...(by.length === 0 ? {} : { 'aria-describedby': by.join(' ') }),
      })}
      {error === undefined ? null : (
        <div id={`${id}-wrong`}>
          <Failure of={error} />
        </div>
      )}
      {hint === undefined ? null : <small id={`${id}-hint`}>{hint}</small>}
    </div>
  );
}

interface FormProps {
  /** Rejects with what is wrong, which the form then shows. */
  send(values: FormData): Promise<void>;
  button: string;
  /** Next to the button. */
  further?: ComponentChildren;
  children: ComponentChildren;
}

/** Sends once at a time, and keeps what was typed after an error. */
export function Form({ send, button, further, children }: FormProps) {
  const isBusy = useSignal(false);
  const failure = useSignal<FormError | undefined>(undefined);
  const submit = async (event: TargetedSubmitEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = event.currentTarget;
    if (isBusy.value) return;
    isBusy.value = true;
    failure.value = undefined;
    try {
      await send(new FormData(form));
    } catch (error) {
      const name = error instanceof ApiError ? error.param : undefined;
      const field = name && form.querySelector<HTMLInputElement>(`[name="${CSS.escape(name)}"]`);
      const isLabelled = field && field.closest('.field') !== null;
      failure.value = {
        error: withLabel(error as Error, field || undefined),
        field: isLabelled ? name : undefined,
      };
      if (field) {
        unfold(field);
        field.focus();
      }
    } finally {
      isBusy.value = false;
    }
  };
  return (
    <form class="stack close" onSubmit={submit} onInvalidCapture={({ target }) => unfold(target as HTMLElement)}>
      <CurrentError.Provider value={failure.value}>{children}</CurrentError.Provider>
      <Failure of={failure.value?.field === undefined ? failure.value?.error : undefined} />
      <div class="row">
        <button type="submit" class="primary" disabled={isBusy.value}>
          {button}
        </button>
        {further}
      </div>
    </form>
  );
}

interface FilterFormProps {
  /** The filter in force: the fields are filled from it, and left alone while it stays the same. */
  filter: URLSearchParams;
  choose(filter: URLSearchParams): void;
  children: ComponentChildren;
}

/** A form whose values apply at once, without the empty ones. */
export function FilterForm({ filter, choose, children }: FilterFormProps) {
  const apply = ({ currentTarget: form }: TargetedEvent<HTMLFormElement>) => {
    const values = [...new FormData(form)].map(([name, value]) => [name, String(value).trim()]);
    choose(new URLSearchParams(values.filter(([, value]) => value !== '')));
  };
  return (
    <form
      key={filter.toString()}
      class="narrow"
      onChange={apply}
      onSubmit={(event) => {
        event.preventDefault();
        apply(event);
      }}
    >
      {children}
    </form>
  );
}

/** The error of a field that is folded away could not be seen. */
function unfold(field: HTMLElement): void {
  field.closest('details')?.setAttribute('open', '');
}

/** The gateway names the parameter of its API; people know the field by its label. */
function withLabel(error: Error, field: HTMLInputElement | undefined): Error {
  if (!(error instanceof ApiError) || error.param === undefined || field === undefined) return error;
  const label = field.closest('fieldset')?.querySelector('legend')?.textContent ?? field.labels?.[0]?.textContent;
  const { status, code, param } = error;
  return label
    ? new ApiError(status, { code, param, message: error.message.replace(`\`${param}\``, `“${label}”`) })
    : error;
}

/** A field's text without its margins. */
export function textOf(values: FormData, name: string): string {
  return String(values.get(name) ?? '').trim();
}
