// The chunks of a stream as they came. A stream's own iterator joins all that waits into one new buffer: with each stream on the way of a
// large upload that copies every byte once more, and holds it twice meanwhile.
import { finished, type Readable } from 'node:stream';

/** Ends the stream when the reader stops. Fails as the stream does. */
export async function* chunksOf(stream: Readable): AsyncGenerator<Buffer> {
  let waiting: Buffer | undefined;
  let end: { error: Error | null | undefined } | undefined;
  let wake = () => {};
  stream.on('data', (chunk: Buffer) => {
    waiting = chunk;
    stream.pause();
    wake();
  });
  finished(stream, { writable: false }, (error) => {
    end = { error };
    wake();
  });
  try {
    for (;;) {
      if (end?.error) throw end.error;
      if (waiting !== undefined) {
        const chunk = waiting;
        waiting = undefined;
        yield chunk;
      } else if (end === undefined) {
        const next = new Promise<void>((resolve) => {
          wake = resolve;
        });
        stream.resume();
        await next;
      } else return;
    }
  } finally {
    stream.destroy();
  }
}
