// A promise of an answer that can also tell what came with it: request id, warnings, headers.
import type { Metadata } from './http.ts';

/** Await it for the data alone, or call `withMetadata()`. */
export interface Answer<Data> extends Promise<Data> {
  /** The data with what came beside it. */
  withMetadata(): Promise<{ data: Data; metadata: Metadata }>;
}

export function answerOf<Data>(whole: Promise<{ data: Data; metadata: Metadata }>): Answer<Data> {
  const data = whole.then((both) => both.data);
  return Object.assign(data, {
    withMetadata: () => {
      // A caller that awaits both gets a failure once.
      data.catch(() => {});
      return whole;
    },
  });
}
