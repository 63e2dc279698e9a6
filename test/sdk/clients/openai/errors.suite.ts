// Refusals by the SDK: the class of each error, and what it says of itself.
import { describe, expect, it } from 'vitest';
import { FILE_BYTES_MAX, type Rig, refusalOf, type Sdk } from '../rig.ts';

type ErrorClass = keyof {
  [Name in keyof Sdk as Sdk[Name] extends new (...args: never[]) => Error ? Name : never]: true;
};

export function errorsSuite(rig: Rig): void {
  const { sdk } = rig;
  const model = 'openai/whisper-1';
  const transcribe = async (params: object = {}, apiKey = rig.live.key) =>
    rig.client({ apiKey }).audio.transcriptions.create({ model, file: await rig.file(), ...params });

  describe('an error', () => {
    it.each<[string, () => PromiseLike<unknown>, ErrorClass, object]>([
      [
        'a key that is none',
        () => transcribe({}, 'sk-proj-of-someone-else'),
        'AuthenticationError',
        { status: 401, code: 'invalid_api_key', type: 'authentication_error', param: null },
      ],
      [
        'no key',
        () => rig.client({ defaultHeaders: { Authorization: null } }).models.list(),
        'AuthenticationError',
        { status: 401, code: 'missing_credential', type: 'authentication_error', param: null },
      ],
      [
        'a revoked key',
        () => transcribe({}, rig.keys.revoked.secret),
        'AuthenticationError',
        { status: 401, code: 'key_revoked' },
      ],
      [
        'no credit',
        () => transcribe({}, rig.keys.broke.secret),
        'APIError',
        { status: 402, code: 'insufficient_credit', type: 'billing_error' },
      ],
      [
        'a key for live sessions',
        () => transcribe({}, rig.keys.listening.secret),
        'PermissionDeniedError',
        { status: 403, code: 'scope_not_allowed', type: 'permission_error' },
      ],
      [
        'a key for another model',
        () => transcribe({}, rig.keys.scripted.secret),
        'PermissionDeniedError',
        { status: 403, code: 'model_not_allowed', param: 'model' },
      ],
      [
        'an unknown model',
        () => transcribe({ model: 'whisper-1' }),
        'NotFoundError',
        { status: 404, code: 'model_not_found', param: 'model', type: 'invalid_request_error' },
      ],
      [
        'a bad value',
        () => transcribe({ temperature: 7 }),
        'BadRequestError',
        { status: 400, code: 'invalid_request', param: 'temperature', type: 'invalid_request_error' },
      ],
      [
        'a format of another API',
        () => transcribe({ response_format: 'csv' }),
        'BadRequestError',
        { status: 400, code: 'invalid_request', param: 'response_format' },
      ],
      [
        'an empty file',
        async () => transcribe({ file: await sdk.toFile(Buffer.alloc(0), 'a.wav') }),
        'BadRequestError',
        { status: 400, code: 'missing_file', param: 'file' },
      ],
      [
        'a file that is none',
        async () => transcribe({ file: await sdk.toFile(Buffer.from('no audio'), 'a.wav') }),
        'BadRequestError',
        { status: 400, code: 'unsupported_audio', param: 'file' },
      ],
      [
        'a file that is too large',
        async () => transcribe({ file: await sdk.toFile(Buffer.alloc(2 * FILE_BYTES_MAX), 'a.wav') }),
        'APIError',
        { status: 413, code: 'file_too_large', param: 'file' },
      ],
      [
        'a JSON body without an address',
        () => rig.client().post('/audio/transcriptions', { body: { model } }),
        'BadRequestError',
        { status: 400, code: 'missing_file', param: 'audio_url' },
      ],
      [
        'a file in a JSON body',
        () => rig.client().post('/audio/transcriptions', { body: { model, file: 'a.wav' } }),
        'BadRequestError',
        { status: 400, code: 'invalid_request', param: 'file' },
      ],
      [
        'what a model cannot do, strictly',
        () => transcribe({ diarization: true, strict: true }),
        'UnprocessableEntityError',
        { status: 422, code: 'unsupported_parameter', param: 'diarization' },
      ],
    ])('explains itself for %s', async (_, call, name, members) => {
      const error = await refusalOf(call());
      expect(error).toBeInstanceOf(sdk[name]);
      expect(error).toMatchObject(members);
      const { status, requestID, message } = error;
      // The SDK puts the status in front of the sentence.
      expect(message).toMatch(new RegExp(`^${status} .+[.?]$`));
      expect(requestID).toMatch(/^req_/);
      expect(error.error).toMatchObject({ message: message.slice(4), request_id: requestID });
      expect(rig.upstream.asked).toHaveLength(0);
    });

    it('becomes an InternalServerError for a failing provider, with attempts and no credential', async () => {
      rig.upstream.refusals.push(500, 500, 500, 500, 500, 500);
      const error = await refusalOf(transcribe());
      expect(error).toBeInstanceOf(sdk.InternalServerError);
      expect(error).toMatchObject({ status: 502, type: 'upstream_error' });
      expect(error.error).toMatchObject({ details: expect.arrayContaining([expect.objectContaining({ model })]) });
      expect(JSON.stringify([error, error.message])).not.toContain('sk-of-the-gateway');
    });
  });

  describe('a retry', () => {
    /** A client, and which attempt each request was that it sent, and when. */
    const counting = (apiKey: string) => {
      const sent: string[] = [];
      const times: number[] = [];
      const client = rig.client({
        apiKey,
        maxRetries: 2,
        fetch: (url, init) => {
          const attempt = new Headers(init?.headers as Headers).get('x-stainless-retry-count');
          // The SDK also asks this what forms it takes.
          if (attempt !== null) {
            sent.push(attempt);
            times.push(performance.now());
          }
          return fetch(url, init);
        },
      });
      return { client, sent, times };
    };
    /** Calls until something comes of it; one minute's requests are enough. */
    const until = async (happened: () => Promise<boolean>) => {
      for (let calls = 0; calls < 600; calls++) if (await happened()) return;
      throw new Error('It did not happen.');
    };

    it('waits as long as a limit asks for, and is answered', async () => {
      const { client, sent, times } = counting(rig.keys.limited.secret);
      let refused: InstanceType<Sdk['APIError']> | undefined;
      await until(async () => {
        await client.models.list({ maxRetries: 0 }).catch((error) => {
          refused = error;
        });
        return refused !== undefined;
      });
      expect(refused).toBeInstanceOf(sdk.RateLimitError);
      expect(refused).toMatchObject({ status: 429, code: 'rate_limit_exceeded', type: 'rate_limit_error' });
      const told = ['retry-after', 'ratelimit-remaining'].map((name) => refused?.headers?.get(name));
      expect(told).toEqual(['1', '0']);
      await until(async () => {
        sent.length = 0;
        expect((await client.models.list()).data).not.toEqual([]);
        return sent.length > 1;
      });
      expect(sent).toEqual(['0', '1']);
      const [before = 0, after = 0] = times.slice(-2);
      expect(after - before).toBeGreaterThan(950);
    });

    it('follows a provider’s failure, and succeeds', async () => {
      const { client, sent } = counting(rig.live.key);
      // The gateway itself tries once more.
      rig.upstream.refusals.push(500, 500);
      const { text } = await client.audio.transcriptions.create({ model, file: await rig.file() });
      expect([text !== '', sent]).toEqual([true, ['0', '1']]);
    });

    it.each<[string, () => string, number]>([
      ['no credit', () => rig.keys.broke.secret, 402],
      // It may be spent again at midnight: one version of the SDK would wait until then without a word.
      ['a day’s spend that is used up', () => rig.keys.thrifty.secret, 429],
    ])('never follows %s', async (_, key, status) => {
      const { client, sent } = counting(key());
      const error = await refusalOf(client.audio.transcriptions.create({ model, file: await rig.file() }));
      expect([error.status, sent]).toEqual([status, ['0']]);
    });

    it('never follows a key that was used for another file', async () => {
      const { client, sent } = counting(rig.live.key);
      const headers = { 'Idempotency-Key': 'one of two' };
      await client.audio.transcriptions.create({ model, file: await rig.file() }, { headers });
      sent.length = 0;
      const other = { model, file: await rig.file(3) };
      const error = await refusalOf(client.audio.transcriptions.create(other, { headers }));
      expect(error).toBeInstanceOf(sdk.ConflictError);
      expect([error.status, error.code, sent]).toEqual([409, 'idempotency_conflict', ['0']]);
    });
  });
}
