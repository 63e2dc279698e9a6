// The bill of a month: opened to print, or downloaded. The password is asked for before, where it was not given lately.
import { useSignal } from '@preact/signals';
import { Act } from '../../controls/act.tsx';
import { Notice } from '../../controls/notice.tsx';
import { ask } from '../../data/api.ts';

export function Bill({ month }: { month: string }) {
  /** Of a page that the browser did not let open by itself. */
  const kept = useSignal<string | undefined>(undefined);
  const at = (format: string) => `/console/api/bills/${month}?format=${format}`;
  const print = async () => {
    kept.value = undefined;
    await ask('GET', `bills/${month}`);
    const page = open(at('html'), '_blank');
    if (page === null) kept.value = at('html');
    else page.opener = null;
  };
  const download = async () => {
    await ask('GET', `bills/${month}`);
    location.assign(at('csv'));
  };
  return (
    <section class="card">
      <h2>Bill of {month}</h2>
      <div class="row">
        <Act act={print}>Open to print</Act>
        <Act act={download}>Download as CSV</Act>
      </div>
      {kept.value === undefined ? null : (
        <Notice tone="busy">
          <a href={kept.value} target="_blank" rel="noreferrer">
            Open the bill of {month}
          </a>
        </Notice>
      )}
    </section>
  );
}
