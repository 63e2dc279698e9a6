import { useSignal } from '@preact/signals';
import type { AllHTMLAttributes, ComponentChildren, TargetedSubmitEvent } from 'preact';
import { useId } from 'preact/hooks';
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

/** A line of a form. */
export function Field({ label, hint, type = 'text', ...rest }: FieldProps) {
  const { id, described } = useDescribed(hint);
  return (
    <Labelled id={id} label={label} hint={hint}>
      <input {...({ id, type, ...described, ...rest } as object)} />
    </Labelled>
  );
}

/** Several lines of a form. */
export function Lines({ label, hint, value, name, rows }: Pick<FieldProps, 'label' | 'hint' | 'name'> & LinesProps) {
  const { id, described } = useDescribed(hint);
  return (
    <Labelled id={id} label={label} hint={hint}>
      <textarea {...({ id, name, rows, defaultValue: value, spellcheck: false, ...described } as object)} />
    </Labelled>
  );
}

interface LinesProps {
  value: string;
  rows: number;
}

function useDescribed(hint: ComponentChildren) {
  const id = useId();
  return { id, described: hint === undefined ? {} : { 'aria-describedby': `${id}-hint` } };
}

function Labelled(props: { id: string; label: string; hint: ComponentChildren; children: ComponentChildren }) {
  const { id, label, hint, children } = props;
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {children}
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
  const failure = useSignal<Error | undefined>(undefined);
  const submit = async (event: TargetedSubmitEvent<HTMLFormElement>) => {
    event.preventDefault();
    if (busy.value) return;
    busy.value = true;
    failure.value = undefined;
    try {
      await send(new FormData(event.currentTarget));
    } catch (error) {
      failure.value = error as Error;
    } finally {
      busy.value = false;
    }
  };
  return (
    <form class="stack close" onSubmit={submit}>
      {children}
      <Failure of={failure.value} />
      <div class="row">
        <button type="submit" class="primary" disabled={busy.value}>
          {button}
        </button>
        {further}
      </div>
    </form>
  );
}

/** A field's text without its margins. */
export function textOf(values: FormData, name: string): string {
  return String(values.get(name) ?? '').trim();
}
