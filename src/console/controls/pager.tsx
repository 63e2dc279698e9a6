import type { Signal } from '@preact/signals';

interface PagerProps<Cursor> {
  /** Behind which entry the list begins; undefined begins with the newest. */
  before: Signal<Cursor | undefined>;
  /** The last entry of this page. */
  last: Cursor | undefined;
  hasMore: boolean;
}

/** From page to page of a list, newest first. */
export function Pager<Cursor>({ before, last, hasMore }: PagerProps<Cursor>) {
  const go = (to: Cursor | undefined) => {
    before.value = to;
  };
  return (
    <div class="row">
      {before.value === undefined ? null : (
        <button type="button" onClick={() => go(undefined)}>
          Newest
        </button>
      )}
      {hasMore ? (
        <button type="button" onClick={() => go(last)}>
          Older
        </button>
      ) : null}
    </div>
  );
}
