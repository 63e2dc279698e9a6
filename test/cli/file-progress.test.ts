// What somebody who waits for a long file is shown: on standard error, on a terminal, and only where it is wanted.
import { openAsBlob, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { SimulatedClock } from 'xstate';
import { CountedFile, FileProgress, StatusLine } from '../../src/cli/transcribe/progress.ts';
import { temporaryDirectory } from '../fakes/temporary-directory.ts';

function shownOn({ isTTY = true, isQuiet = false } = {}) {
  const lines: string[] = [];
  const line = new StatusLine({
    isQuiet,
    output: { isTTY, write: (text) => lines.push(text.replace('\r\x1b[K', '')) },
  });
  const clock = new SimulatedClock();
  return { lines, clock, progress: new FileProgress(line, 40_000_000, clock) };
}

it('shows each second how much is sent, then the wait, and leaves nothing', () => {
  const { lines, clock, progress } = shownOn();
  progress.sent(10_000_000);
  clock.increment(1_000);
  progress.sent(19_999_999);
  clock.increment(1_000);
  progress.sent(10_000_001);
  clock.increment(1_000);
  clock.increment(1_000);
  progress.end();
  clock.increment(10_000);
  expect(lines).toEqual([
    'sending 10.0 of 40.0 MB (25 %), 1 s',
    'sending 30.0 of 40.0 MB (74 %), 2 s',
    'sent 40.0 MB, waiting for 1 s',
    'sent 40.0 MB, waiting for 2 s',
    '',
  ]);
});

it('shows nothing for a file that is answered at once', () => {
  const { lines, clock, progress } = shownOn();
  progress.sent(40_000_000);
  clock.increment(900);
  progress.end();
  expect(lines).toEqual(['']);
});

it.each([{ isTTY: false }, { isQuiet: true }])('writes nothing at all where it is %j', (where) => {
  const { lines, clock, progress } = shownOn(where);
  progress.sent(1);
  clock.increment(5_000);
  progress.end();
  expect(lines).toEqual([]);
});

it('counts a file while it is sent in a form, with its length declared', async () => {
  let seen = { length: 0, bytes: 0 };
  const server = createServer(async (request, response) => {
    let bytes = 0;
    for await (const chunk of request) bytes += (chunk as Buffer).length;
    seen = { length: Number(request.headers['content-length']), bytes };
    response.end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  try {
    const path = join(temporaryDirectory(), 'a.wav');
    writeFileSync(path, new Uint8Array(300_000));
    const sizes: number[] = [];
    const form = new FormData();
    form.set('file', new CountedFile(await openAsBlob(path), 'a.wav', (bytes) => sizes.push(bytes)));
    const { port } = server.address() as AddressInfo;
    await (await fetch(`http://127.0.0.1:${port}/`, { method: 'POST', body: form })).text();
    const { length, bytes } = seen;
    expect([length, sizes.reduce((sum, each) => sum + each, 0)]).toEqual([bytes, 300_000]);
    expect(sizes.length).toBeGreaterThan(1);
  } finally {
    server.close();
  }
});
