// Which endpoint a request comes to: by its path, by its host, or at the root.
import { expect, it } from 'vitest';
import { dialectAt, notServedAt, withDialect } from '../../../src/compat/routes.ts';
import type { ServerRequest } from '../../../src/http/server.ts';

const asked = (host: string, path: string) =>
  withDialect({ path, headers: new Map([['host', host]]) } as unknown as ServerRequest).path;

it.each([
  ['voice.example.com', '/compat/deepgram/v1/listen', '/compat/deepgram/v1/listen'],
  ['voice.example.com', '/v1/listen', '/v1/listen'],
  ['deepgram.voice.example.com', '/v1/listen', '/compat/deepgram/v1/listen'],
  ['Deepgram.localhost:8080', '/v2/listen', '/compat/deepgram/v2/listen'],
  ['deepgram.voice.example.com', '/v1/models', '/v1/models'],
  ['deepgram.voice.example.com', '/', '/'],
  ['openai.voice.example.com', '/v1/audio/transcriptions', '/compat/openai/v1/audio/transcriptions'],
  ['openai.voice.example.com', '/v1/listen', '/v1/listen'],
  ['openai.voice.example.com', '/v2/live', '/compat/gladia/v2/live'],
  ['voice.example.com', '/v2/jobs/1/transcript', '/compat/speechmatics/v2/jobs/1/transcript'],
  ['voice.example.com', '/v2/jobs/1/2', '/v2/jobs/1/2'],
  ['voice.example.com', '/v2/upload', '/compat/gladia/v2/upload'],
  ['assemblyai.voice.example.com', '/v2/upload', '/compat/assemblyai/v2/upload'],
  ['assemblyai.voice.example.com', '/v2/transcript/1/srt', '/compat/assemblyai/v2/transcript/1/srt'],
  ['deepgram', '/v1/listen', '/v1/listen'],
  ['', '/v1/listen', '/v1/listen'],
])('requests to %s for %s reach %s', (host, path, place) => expect(asked(host, path)).toBe(place));

it.each([
  ['/compat/deepgram/v1/listen', 'deepgram', '/v1/listen'],
  ['/compat/nobody/v1/listen', undefined, undefined],
  ['/compat/deepgram', undefined, undefined],
  ['/v1/listen', undefined, undefined],
])('%s is of %s', (path, name, own) => {
  const at = dialectAt(path);
  expect([at?.dialect.name, at?.path]).toEqual([name, own]);
});

it('lists what an endpoint serves when something else is requested', () => {
  expect(notServedAt('/compat/openai/v1/realtime/calls')).toBe(
    'There is no such endpoint for clients of OpenAI. Served are, below /compat/openai: /v1/realtime, /v1/audio/transcriptions, /v1/realtime/client_secrets, /v1/realtime/transcription_sessions. GET /v1/models lists the models.',
  );
  expect(notServedAt('/compat/openai/v1/audio/translations')).toMatch(/^Translations are not served: .*transcriptions/);
  expect(notServedAt('/v1/nothing')).toBeUndefined();
});
