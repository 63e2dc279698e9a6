import { useSignal } from '@preact/signals';

/** A text that can be copied at one click. */
export function Copyable({ text, label }: { text: string; label: string }) {
  const copied = useSignal(false);
  const copy = async () => {
    await navigator.clipboard.writeText(text);
    copied.value = true;
    setTimeout(() => (copied.value = false), 2_000);
  };
  return (
    <div class={text.includes('\n') ? 'secret block' : 'secret'}>
      <code>{text}</code>
      <button type="button" onClick={copy}>
        <span aria-live="polite">{copied.value ? 'Copied' : 'Copy'}</span>
        <span class="unseen"> {label}</span>
      </button>
    </div>
  );
}
