import type { ComponentChildren } from 'preact';
import { useEffect, useId, useRef } from 'preact/hooks';

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
