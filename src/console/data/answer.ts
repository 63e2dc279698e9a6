// What a page shows of the gateway's answers: asked for when the page is opened, and again when it says so. Nothing is kept.
import { useSignal } from '@preact/signals';
import { useCallback, useEffect, useRef } from 'preact/hooks';
import { type Refused, read } from './api.ts';

export interface Answer<Value> {
  /** Undefined until the first answer. */
  readonly value: Value | undefined;
  readonly refused: Refused | undefined;
  reload(): void;
}

/**
 * @param path below `/console/api/`; nothing is asked while it is undefined
 * @param everyMs asks again so often while the page can be seen
 */
export function useAnswer<Value>(path: string | undefined, everyMs?: number): Answer<Value> {
  const value = useSignal<Value | undefined>(undefined);
  const refused = useSignal<Refused | undefined>(undefined);
  const newest = useRef(0);
  const load = useCallback(async () => {
    if (path === undefined) return;
    newest.current++;
    const own = newest.current;
    try {
      const answer = await read<Value>(path);
      if (own !== newest.current) return;
      value.value = answer;
      refused.value = undefined;
    } catch (error) {
      if (own === newest.current) refused.value = error as Refused;
    }
  }, [path]);
  useEffect(() => {
    value.value = undefined;
    let timer: ReturnType<typeof setTimeout> | undefined;
    let isOver = false;
    const again = async () => {
      if (document.visibilityState === 'visible') await load();
      if (!isOver && everyMs !== undefined) timer = setTimeout(again, everyMs);
    };
    void again();
    return () => {
      isOver = true;
      clearTimeout(timer);
    };
  }, [load, everyMs]);
  return { value: value.value, refused: refused.value, reload: () => void load() };
}
