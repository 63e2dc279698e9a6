import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { Dialog } from './dialog.tsx';
import { Failure } from './notice.tsx';

interface ActProps {
  /** What the button says. */
  children: ComponentChildren;
  class?: string;
  /** What is asked before it is done, where it cannot be undone. */
  sure?: { title: string; text: string; button: string };
  act(): Promise<unknown>;
}

/** A button that does something at the gateway: once at a time, after a question where one is given, and its refusal is shown. */
export function Act({ children, class: look = '', sure, act }: ActProps) {
  const busy = useSignal(false);
  const asking = useSignal(false);
  const failure = useSignal<Error | undefined>(undefined);
  const work = async () => {
    busy.value = true;
    failure.value = undefined;
    try {
      await act();
      asking.value = false;
    } catch (error) {
      failure.value = error as Error;
    } finally {
      busy.value = false;
    }
  };
  const ask = () => {
    asking.value = true;
  };
  return (
    <>
      <button type="button" class={look} disabled={busy.value} onClick={sure === undefined ? work : ask}>
        {children}
      </button>
      {asking.value && sure !== undefined ? (
        <Dialog title={sure.title} close={() => (asking.value = false)}>
          <p>{sure.text}</p>
          <Failure of={failure.value} />
          <div class="row">
            <button type="button" class={look} disabled={busy.value} onClick={work}>
              {sure.button}
            </button>
            <button type="button" onClick={() => (asking.value = false)}>
              Cancel
            </button>
          </div>
        </Dialog>
      ) : (
        <Failure of={failure.value} />
      )}
    </>
  );
}
