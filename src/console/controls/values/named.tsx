import { useSignal } from '@preact/signals';
import clipboard from 'heroicons/24/outline/clipboard.svg?raw';
import { shortId } from '../../data/format.ts';
import { nameOf } from '../../data/names.ts';
import { Icon } from '../icon.tsx';

const COPIED_MS = 2_000;

/** What an id stands for, by its name where the reader may know it. The id is shown by the pointer, and copied at a click. */
export function Named({ id, name }: { id: string; name?: string | null }) {
  const known = name ?? nameOf(id);
  const copied = useSignal(false);
  const copy = async () => {
    await navigator.clipboard.writeText(id);
    copied.value = true;
    setTimeout(() => (copied.value = false), COPIED_MS);
  };
  return (
    <span class="named" title={id}>
      {known ?? <code>{shortId(id)}</code>}
      <button type="button" class="plain copy-id" onClick={copy}>
        {copied.value ? 'Copied' : <Icon svg={clipboard} />}
        <span class="unseen">Copy the id {known === undefined ? '' : `of ${known}`}</span>
      </button>
    </span>
  );
}
