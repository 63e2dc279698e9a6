// Streamed transcriptions by the SDK, with `for await`.
import type OpenAI from 'openai';
import { describe, expect, it } from 'vitest';
import { SAID } from '../../../clients/upstream.ts';
import { type Rig, refusalOf } from '../rig.ts';

type StreamEvent = OpenAI.Audio.TranscriptionStreamEvent;

const textOf = (events: readonly StreamEvent[]) =>
  events.flatMap((event) => (event.type === 'transcript.text.delta' ? [event.delta] : [])).join('');

export function streamsSuite(rig: Rig): void {
  describe('a stream', () => {
    const open = async (model: string, more: object = {}) =>
      rig.client().audio.transcriptions.create({ file: await rig.file(), model, stream: true, ...more });

    it.each(['openai/gpt-4o-transcribe', 'openai/whisper-1', 'loopback/numbered'])(
      'sends deltas of %s and then the whole text, once',
      async (model) => {
        const events: StreamEvent[] = [];
        for await (const event of await open(model)) events.push(event);
        const done = events.filter(({ type }) => type === 'transcript.text.done');
        expect(done).toHaveLength(1);
        expect(events.at(-1)).toMatchObject({ type: 'transcript.text.done', text: textOf(events) });
        expect(textOf(events)).toBe(model.startsWith('openai/') ? SAID.join(' ') : '0-32000 32000-64000');
      },
    );

    it('carries the id of the request, and the type of an event stream', async () => {
      const { data, response, request_id } = await rig
        .client()
        .audio.transcriptions.create({ file: await rig.file(), model: 'loopback/numbered', stream: true })
        .withResponse();
      expect(response.headers.get('content-type')).toMatch(/^text\/event-stream/);
      expect(request_id).toMatch(/^req_/);
      for await (const event of data) expect(event.type).toMatch(/^transcript\./);
    });

    it('may be abandoned in the middle, and the client continues', async () => {
      for await (const event of await open('loopback/numbered', { provider_params: '{"turn_seconds":1}' })) {
        expect(event.type).toBe('transcript.text.delta');
        break;
      }
      const file = await rig.file();
      expect((await rig.client().audio.transcriptions.create({ file, model: 'loopback/numbered' })).text).not.toBe('');
    });

    it('fails with an ordinary error before it begins', async () => {
      const error = await refusalOf(open('openai/nothing'));
      expect(error).toBeInstanceOf(rig.sdk.NotFoundError);
      expect(error).toMatchObject({ status: 404, code: 'model_not_found', param: 'model' });
    });

    it('throws the provider’s failure after the text received, when it breaks off', async () => {
      const fail = { how: 'error', at_seconds: 2.5, kind: 'caller' };
      const heard: StreamEvent[] = [];
      const read = async () => {
        const provider_params = JSON.stringify({ turn_seconds: 1, fail });
        for await (const event of await open('loopback/numbered', { provider_params })) heard.push(event);
      };
      const error = await refusalOf(read());
      expect(error).toBeInstanceOf(rig.sdk.APIError);
      expect([error.code, error.requestID]).toEqual([expect.any(String), expect.stringMatching(/^req_/)]);
      expect(textOf(heard)).toBe('0-16000 16000-32000');
    });

    it('becomes an ordinary answer with `stream: false`', async () => {
      const file = await rig.file();
      const { text } = await rig
        .client()
        .audio.transcriptions.create({ file, model: 'openai/whisper-1', stream: false, response_format: 'json' });
      expect(text).toBe(SAID.join(' '));
    });
  });
}
