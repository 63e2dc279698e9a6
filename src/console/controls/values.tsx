// Single values on a page: key figures, amounts, names of ids, icons, and text to copy.
import { useSignal } from '@preact/signals';
import clipboard from 'heroicons/24/outline/clipboard.svg?raw';
import type { ComponentChildren } from 'preact';
import { ago, shortId, time, usd, usdParts } from '../data/format.ts';
import { nameOf } from '../data/organisation.ts';

interface FigureProps {
  title: string;
  /** Undefined until it is known. */
  value: ComponentChildren;
  note?: string | undefined;
}

/** One number that matters, in a list of class `figures`. */
export function Figure({ title, value, note }: FigureProps) {
  return (
    <div class="figure">
      <dt>{title}</dt>
      <dd>{value ?? '…'}</dd>
      {note === undefined ? null : <dd class="note">{note}</dd>}
    </div>
  );
}

/** An exact amount in USD: what is smaller than a cent is quiet, and aligned so that the decimal points of a column are below each other. */
export function Money({ amount }: { amount: string }) {
  const { cents, rest } = usdParts(amount);
  return (
    <span class="money" title={usd(amount)}>
      {cents}
      <span class="rest">{rest}</span>
    </span>
  );
}

/** A past or coming time from now; the pointer shows it exactly. */
export function Ago({ at }: { at: string }) {
  return <span title={time(at)}>{ago(at)}</span>;
}

/**
 * An icon inline, so that it takes the colour of the text next to it, which says the same in words.
 *
 * @param svg of the package of icons, taken at the build
 */
export function Icon({ svg }: { svg: string }) {
  return <span class="icon" aria-hidden="true" dangerouslySetInnerHTML={{ __html: svg }} />;
}

const COPIED_MS = 2_000;

/** Copies a text, and says so for a moment. */
function useCopy(text: string) {
  const isCopied = useSignal(false);
  const copy = async () => {
    await navigator.clipboard.writeText(text);
    isCopied.value = true;
    setTimeout(() => (isCopied.value = false), COPIED_MS);
  };
  return { isCopied: isCopied.value, copy };
}

/** A text that can be copied at one click. */
export function Copyable({ text, label }: { text: string; label: string }) {
  const { isCopied, copy } = useCopy(text);
  return (
    <div class={text.includes('\n') ? 'secret block' : 'secret'}>
      <code>{text}</code>
      <button type="button" onClick={copy}>
        <span aria-live="polite">{isCopied ? 'Copied' : 'Copy'}</span>
        <span class="unseen"> {label}</span>
      </button>
    </div>
  );
}

/** The name of an id where the user may know it. The pointer shows the id, and a click copies it. */
export function Named({ id, name }: { id: string; name?: string | null }) {
  const known = name ?? nameOf(id);
  const { isCopied, copy } = useCopy(id);
  return (
    <span class="named" title={id}>
      {known ?? <code>{shortId(id)}</code>}
      <button type="button" class="plain copy-id" onClick={copy}>
        {isCopied ? 'Copied' : <Icon svg={clipboard} />}
        <span class="unseen">Copy the id {known === undefined ? '' : `of ${known}`}</span>
      </button>
    </span>
  );
}
