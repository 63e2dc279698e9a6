import { useSignal } from '@preact/signals';
import { type AllHTMLAttributes, type ComponentChildren, createContext, type TargetedSubmitEvent } from 'preact';
import { useContext, useId } from 'preact/hooks';
import { Refused } from '../data/api.ts';
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

interface FieldProps extends Pick<AllHTMLAttributes<HTMLInputElement>, InputProps> {
  label: string;
  name: string;
  type?: 'text' | 'email' | 'password' | 'number' | 'datetime-local' | 'search';
  value?: string | number | undefined;
  hint?: ComponentChildren;
}

/** What a form was refused for, and the name of the field at fault where it has that. */
interface Fault {
  error: Error;
  field: string | undefined;
}

const FormFault = createContext<Fault | undefined>(undefined);

/** A line of a form. */
export function Field({ label, hint, type = 'text', value, ...rest }: FieldProps) {
  const { described, ...labelled } = useDescribed(rest.name, hint);
  return (
    <Labelled {...labelled} label={label} hint={hint}>
      {/* The value it begins with: what is typed stays when the form is drawn again. */}
      <input {...({ id: labelled.id, type, defaultValue: value, ...described, ...rest } as object)} />
    </Labelled>
  );
}

/** Several lines of a form. */
export function Lines({ label, hint, value, name, rows }: Pick<FieldProps, 'label' | 'hint' | 'name'> & LinesProps) {
  const { described, ...labelled } = useDescribed(name, hint);
  return (
    <Labelled {...labelled} label={label} hint={hint}>
      <textarea
        {...({ id: labelled.id, name, rows, defaultValue: value, spellcheck: false, ...described } as object)}
      />
    </Labelled>
  );
}

interface LinesProps {
  value: string;
  rows: number;
}

function useDescribed(name: string, hint: ComponentChildren) {
  const id = useId();
  const fault = useContext(FormFault);
  const wrong = fault?.field === name ? fault.error : undefined;
  const by = [...(wrong === undefined ? [] : [`${id}-wrong`]), ...(hint === undefined ? [] : [`${id}-hint`])];
  const invalid = wrong === undefined ? {} : { 'aria-invalid': 'true' };
  return { id, wrong, described: { ...invalid, ...(by.length === 0 ? {} : { 'aria-describedby': by.join(' ') }) } };
}

interface LabelledProps {
  id: string;
  label: string;
  hint: ComponentChildren;
  wrong: Error | undefined;
  children: ComponentChildren;
}

function Labelled({ id, label, hint, wrong, children }: LabelledProps) {
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {children}
      {wrong === undefined ? null : (
        <div id={`${id}-wrong`}>
          <Failure of={wrong} />
        </div>
      )}
      {hint === undefined ? null : <small id={`${id}-hint`}>{hint}</small>}
    </div>
  );
}

interface FormProps {
  /** What the fields hold. Rejects with what is wrong, which the form then shows. */
  send(values: FormData): Promise<void>;
  button: string;
  /** Beside the button. */
  further?: ComponentChildren;
  children: ComponentChildren;
}

/** Sends once at a time, and keeps what was typed when it is refused. */
export function Form({ send, button, further, children }: FormProps) {
  const busy = useSignal(false);
  const fault = useSignal<Fault | undefined>(undefined);
  const submit = async (event: TargetedSubmitEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = event.currentTarget;
    if (busy.value) return;
    busy.value = true;
    fault.value = undefined;
    try {
      await send(new FormData(form));
    } catch (error) {
      const name = error instanceof Refused ? error.param : undefined;
      const field = name && form.querySelector<HTMLInputElement>(`[name="${CSS.escape(name)}"]`);
      const hasPlace = field && field.closest('.field') !== null;
      fault.value = { error: inWordsOf(error as Error, field || undefined), field: hasPlace ? name : undefined };
      if (field) {
        unfold(field);
        field.focus();
      }
    } finally {
      busy.value = false;
    }
  };
  return (
    <form class="stack close" onSubmit={submit} onInvalidCapture={({ target }) => unfold(target as HTMLElement)}>
      <FormFault.Provider value={fault.value}>{children}</FormFault.Provider>
      <Failure of={fault.value?.field === undefined ? fault.value?.error : undefined} />
      <div class="row">
        <button type="submit" class="primary" disabled={busy.value}>
          {button}
        </button>
        {further}
      </div>
    </form>
  );
}

/** Where a field is folded away, what is wrong with it could not be seen. */
function unfold(field: HTMLElement): void {
  field.closest('details')?.setAttribute('open', '');
}

/** The gateway names the member of its interface; people know the field by its label. */
function inWordsOf(error: Error, field: HTMLInputElement | undefined): Error {
  if (!(error instanceof Refused) || error.param === undefined || field === undefined) return error;
  const label = field.closest('fieldset')?.querySelector('legend')?.textContent ?? field.labels?.[0]?.textContent;
  const { status, code, param } = error;
  return label
    ? new Refused(status, { code, param, message: error.message.replace(`\`${param}\``, `“${label}”`) })
    : error;
}

/** A field's text without its margins. */
export function textOf(values: FormData, name: string): string {
  return String(values.get(name) ?? '').trim();
}
