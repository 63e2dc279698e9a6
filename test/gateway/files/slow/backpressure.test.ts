// Large uploads at several providers, over real sockets: what the gateway holds of them meanwhile.
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, it } from 'vitest';
import { END, expectNothingLeft, flac, open, server } from '../files-fixture.ts';

/** How often memory is looked at while files pass. Each look collects the whole heap; a file that is held whole is seen four times. */
const LOOK_BYTES = 24 * 1_048_576;
setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

/** Bytes of buffers that something still holds: what only waits to be tidied up does not count. */
function heldBytes(): number {
  // What one collection lets go of is counted until the next.
  collect();
  collect();
  return process.memoryUsage().arrayBuffers;
}

it('applies the backpressure of the provider to an upload, so that large uploads need little memory', async () => {
  const bytes = 48 * 1_048_576;
  let received = 0;
  let looked = 0;
  let peak = 0;
  for (const name of ['straight', 'sized', 'second']) {
    server(name).early = (request, response) => {
      request.on('data', (piece: Buffer) => {
        received += piece.length;
        if (received - looked < LOOK_BYTES) return;
        looked = received;
        peak = Math.max(peak, heldBytes());
      });
      request.on('end', () => response.end('{"text":"heard","seconds":1}'));
      return true;
    };
  }
  const piece = flac(65_536);
  const before = heldBytes();
  const statuses = await Promise.all(
    ['straight/file', 'sized/file', 'second/file'].map(async (model, index) => {
      const upload = open(model, bytes, index === 2 ? [['fallbacks', 'straight/file']] : []);
      const answered = new Promise<number>((resolve) => {
        upload.on('response', (response) => resolve(response.resume().statusCode ?? 0));
      });
      for (let sent = 0; sent < bytes; sent += piece.length) {
        if (!upload.write(piece)) await new Promise((resolve) => upload.once('drain', resolve));
      }
      upload.end(END);
      return answered;
    }),
  );
  expect(statuses).toEqual([200, 200, 200]);
  expect(received).toBeGreaterThanOrEqual(3 * bytes);
  // Client, gateway and provider are one process here.
  expect((peak - before) / 1_048_576).toBeLessThan(24);
  await expectNothingLeft();
});
