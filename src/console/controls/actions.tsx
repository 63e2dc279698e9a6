// What people do at the gateway: dialogs, buttons that may ask for confirmation first, and the prompt for the password.
import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useEffect, useId, useRef } from 'preact/hooks';
import { passwordPrompt, send } from '../data/api.ts';
import { Field, Form } from './form.tsx';
import { Failure } from './notice.tsx';

interface DialogProps {
  title: string;
  close(): void;
  children: ComponentChildren;
}

/** Stands above the page and keeps the focus until it is closed; Escape closes it. */
export function Dialog({ title, close, children }: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const id = useId();
  useEffect(() => {
    const before = document.activeElement;
    dialog.current?.showModal();
    return () => before instanceof HTMLElement && before.focus();
  }, []);
  return (
    <dialog ref={dialog} aria-labelledby={id} onClose={close}>
      <div class="body">
        <h2 id={id}>{title}</h2>
        {children}
      </div>
    </dialog>
  );
}

/** One action at a time, and the failure of the last one. */
export function useAction() {
  const isBusy = useSignal(false);
  const failure = useSignal<Error | undefined>(undefined);
  /** Never rejects. @returns whether it succeeded */
  const run = async (action: () => Promise<unknown>): Promise<boolean> => {
    isBusy.value = true;
    failure.value = undefined;
    try {
      await action();
      return true;
    } catch (error) {
      failure.value = error as Error;
      return false;
    } finally {
      isBusy.value = false;
    }
  };
  return { isBusy: isBusy.value, failure: failure.value, run };
}

interface ActionButtonProps {
  children: ComponentChildren;
  class?: string;
  /** Loaded before an action that cannot be undone. */
  confirm?: { title: string; text: string; button: string };
  action(): Promise<unknown>;
}

export function ActionButton({ children, class: style = '', confirm, action }: ActionButtonProps) {
  const isConfirming = useSignal(false);
  const { isBusy, failure, run } = useAction();
  const act = async () => {
    if (await run(action)) isConfirming.value = false;
  };
  return (
    <>
      <button
        type="button"
        class={style}
        disabled={isBusy}
        onClick={confirm === undefined ? act : () => (isConfirming.value = true)}
      >
        {children}
      </button>
      {isConfirming.value && confirm !== undefined ? (
        <Dialog title={confirm.title} close={() => (isConfirming.value = false)}>
          <p>{confirm.text}</p>
          <Failure of={failure} />
          <div class="row">
            <button type="button" class={style} disabled={isBusy} onClick={act}>
              {confirm.button}
            </button>
            <button type="button" onClick={() => (isConfirming.value = false)}>
              Cancel
            </button>
          </div>
        </Dialog>
      ) : (
        <Failure of={failure} />
      )}
    </>
  );
}

/** Requests the password again, where the gateway requires it before a change. */
export function PasswordPrompt() {
  const prompt = passwordPrompt.value;
  if (prompt === undefined) return null;
  return (
    <Dialog title="Your password, once more" close={() => prompt.resolve(false)}>
      <p>
        This changes who may spend or read. The password is asked for where it was not given within the last ten
        minutes.
      </p>
      <Form
        button="Go on"
        further={
          <button type="button" onClick={() => prompt.resolve(false)}>
            Cancel
          </button>
        }
        send={async (values) => {
          await send('POST', 'confirm', { password: String(values.get('password')) });
          prompt.resolve(true);
        }}
      >
        <Field label="Password" name="password" type="password" autocomplete="current-password" required autofocus />
      </Form>
    </Dialog>
  );
}
