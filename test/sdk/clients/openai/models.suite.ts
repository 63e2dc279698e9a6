// The catalogue by the SDK: the list, one model with a slash in its name, and endpoints that there are not.
import { describe, expect, it } from 'vitest';
import { type Rig, refusalOf } from '../rig.ts';

export function modelsSuite(rig: Rig): void {
  describe('models', () => {
    it('come as one page and one by one', async () => {
      const page = await rig.client().models.list();
      expect(page.object).toBe('list');
      expect(page.hasNextPage()).toBe(false);
      const ids: string[] = [];
      for await (const model of rig.client().models.list()) ids.push(model.id);
      expect(ids).toEqual(page.data.map(({ id }) => id));
      expect(ids).toContain('local/commands-en');
      expect(page.data[0]).toMatchObject({
        object: 'model',
        owned_by: expect.any(String),
        created: expect.any(Number),
      });
    });

    it('pass the filter of the SDK’s own query', async () => {
      const page = await rig.client().models.list({ query: { provider: 'loopback', mode: 'batch' } });
      expect(page.data.map(({ id }) => id)).toEqual(['loopback/script', 'loopback/numbered']);
    });

    it('answer to their slug, whose slash the SDK escapes', async () => {
      const model = await rig.client().models.retrieve('local/commands-en');
      expect(model).toMatchObject({ id: 'local/commands-en', object: 'model', owned_by: 'local' });
      expect(model).toEqual(await (await rig.live.request('/v1/models/local/commands-en')).json());
    });

    it.each(['nope/x', 'local/commands', 'whisper-1', 'a/b/c', '../v1/balance', ' '])(
      'answer 404 for unknown ones, such as "%s", with a suggestion',
      async (slug) => {
        const error = await refusalOf(rig.client().models.retrieve(slug));
        expect(error).toBeInstanceOf(rig.sdk.NotFoundError);
        expect(error).toMatchObject({ status: 404, code: 'model_not_found', param: 'model' });
        expect(error.message).toMatch(/Did you mean \w+\/|GET \/v1\/models lists/);
      },
    );
  });

  describe('an operation that is not offered', () => {
    const { sdk } = rig;
    const messages = [{ role: 'user' as const, content: 'hello' }];
    it.each<[string, () => PromiseLike<unknown>]>([
      [
        'translations',
        async () => rig.client().audio.translations.create({ model: 'whisper-1', file: await rig.file() }),
      ],
      ['speech', () => rig.client().audio.speech.create({ model: 'tts-1', input: 'hello', voice: 'alloy' })],
      ['chat', () => rig.client().chat.completions.create({ model: 'gpt-4o', messages })],
      ['streamed chat', () => rig.client().chat.completions.create({ model: 'gpt-4o', messages, stream: true })],
      ['responses', () => rig.client().responses.create({ model: 'gpt-4o', input: 'hello' })],
      ['embeddings', () => rig.client().embeddings.create({ model: 'text-embedding-3-small', input: 'hello' })],
      ['files', () => rig.client().files.list()],
    ])('%s', async (_, call) => {
      const error = await refusalOf(call());
      expect(error).toBeInstanceOf(sdk.NotFoundError);
      expect(error).toMatchObject({ status: 404, code: 'not_found', type: 'invalid_request_error' });
      expect(error.message).toMatch(/^404 (?:There is no such endpoint|Translations are not served).*\.$/);
      expect(error.message).toContain('/v1/audio/transcriptions');
      expect(error.requestID).toMatch(/^req_/);
    });

    it('deleting a model', async () => {
      const error = await refusalOf(rig.client().models.delete('local/commands-en'));
      expect(error).toMatchObject({ status: 405, code: 'method_not_allowed' });
    });
  });
}
