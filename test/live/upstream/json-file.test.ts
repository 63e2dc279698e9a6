// A file within a JSON object: whole, however it comes in, and of the length that is told before.
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { contentOf } from '../../../src/live/upstream/http/exchange.ts';

const request = (json: object) => ({
  ...{ method: 'POST' as const, url: '', headers: {} },
  body: { kind: 'json-file' as const, json: { ...json }, fileMember: 'content' },
});

async function textOf(body: AsyncIterable<Uint8Array> | Uint8Array): Promise<string> {
  if (body instanceof Uint8Array) return Buffer.from(body).toString();
  const pieces: Uint8Array[] = [];
  for await (const piece of body) pieces.push(piece);
  return Buffer.concat(pieces).toString();
}

async function* each(chunks: readonly Uint8Array[]): AsyncGenerator<Uint8Array> {
  yield* chunks;
}

it('matches its base64, in memory and streamed', () =>
  fc.assert(
    fc.asyncProperty(
      fc.array(fc.uint8Array({ maxLength: 20 })),
      fc.dictionary(fc.string(), fc.string()),
      async (chunks, json) => {
        const file = Buffer.concat(chunks);
        const about = { name: 'audio.wav', contentType: 'audio/wav', bytes: file.length, seconds: undefined };
        for (const read of [() => chunks, () => each(chunks)]) {
          const { headers, body } = contentOf(request(json), about, read);
          const text = await textOf(body as Uint8Array);
          expect(JSON.parse(text)).toEqual({ ...json, content: file.toString('base64') });
          expect(headers).toEqual({
            'content-type': 'application/json',
            'content-length': String(Buffer.byteLength(text)),
          });
        }
      },
    ),
    { numRuns: 60 },
  ));
