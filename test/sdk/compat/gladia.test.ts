// Gladia's official client at its endpoint: what it hears where it is refused, each message of a session, and sessions that are over.
import { describe, expect, it } from 'vitest';
import { createKeys } from '../../fakes/store/store-keys.ts';
import { piecesOf, startDialectRig } from '../../vendors/compat/rig.ts';
import { gladiaClient, recorded } from '../drivers/gladia.ts';

describe('the official client', () => {
  const rig = startDialectRig();
  const job = (more: object = {}) => ({ ...rig.gateway, model: 'deepgram/nova-3', sampleRate: 16_000, ...more });

  it.each([
    ['nine channels', {}, { channels: 9 }, 'from 1 to 8'],
    ['a rate that no client sends', { sampleRate: 7 }, {}, 'sample_rate'],
    ['no key', { key: 'none' }, {}, '401'],
    ['an unknown model', { model: 'deepgram/none' }, {}, 'There is no model "deepgram/none"'],
  ])('gets the reason of a refusal: %s', async (_, more, config, words) => {
    await expect(recorded(job(more), [], config)).rejects.toThrow(words);
  });

  it('fails before it connects when it requests a region where the model does not run', async () => {
    // LiveKit's plugin always sends a region, and does not report what the WebSocket refuses.
    const answer = await fetch(`${rig.gateway.url}/compat/gladia/v2/live?region=eu-west`, {
      method: 'POST',
      headers: { 'x-gladia-key': rig.gateway.key, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'deepgram/nova-3' }),
    });
    expect([answer.status, await answer.json()]).toMatchObject([
      403,
      { statusCode: 403, message: expect.stringContaining('region eu') },
    ]);
  });

  it('gets audio acknowledged, turns, and the end', async () => {
    const all = await recorded(job(), piecesOf(16_000));
    const names = all.map(({ type }) => type);
    expect(names.filter((type) => type === 'audio_chunk').length).toBe(piecesOf(16_000).length);
    expect(names).toContain('transcript');
    expect(names.slice(-2)).toEqual(['end_recording', 'end_session']);
  });

  it('requests a session after its end, lists and deletes it', async () => {
    const config = { language_config: { languages: ['en'] } };
    const all = await recorded(job(), piecesOf(16_000), config);
    const id = all[0]?.session_id as string;
    const client = gladiaClient(rig.gateway).liveV2();
    const finals = all.flatMap((each) => (each.type === 'transcript' && each.data.is_final ? [each.data] : []));
    const { result, ...session } = await client.get(id);
    expect(session).toMatchObject({
      ...{ id, kind: 'live', status: 'done', completed_at: expect.any(String), error_code: null },
      request_params: { ...config, model: 'deepgram/nova-3', sample_rate: 16_000 },
    });
    expect(result?.transcription?.utterances.map(({ text }) => text)).toEqual(
      finals.map(({ utterance }) => utterance.text),
    );
    expect(result?.metadata).toMatchObject({ audio_duration: 1, number_of_distinct_channels: 1 });
    expect((await client.list()).items[0]).toMatchObject({ id, status: 'done' });
    await expect(client.getFile(id)).rejects.toMatchObject({ status: 404, message: expect.stringContaining('audio') });
    expect(await client.delete(id)).toBe(true);
    await expect(client.get(id)).rejects.toMatchObject({ status: 404 });
  });

  it('finds no session that was opened without retention, or by another key', async () => {
    const client = gladiaClient(rig.gateway).liveV2();
    const [listener, secret] = await createKeys(rig.gateway.directory, [
      { scopes: ['listen'] },
      { scopes: ['listen'], retention: 'none' },
    ]);
    const ids: string[] = [];
    for (const key of [listener, secret]) {
      const [first] = await recorded(job({ key: key?.secret, model: 'local/commands-en' }), piecesOf(16_000));
      ids.push(first?.session_id as string);
    }
    const own = gladiaClient({ ...rig.gateway, key: listener?.secret ?? '' }).liveV2();
    expect((await own.get(ids[0] as string)).status).toBe('done');
    await expect(client.get(ids[0] as string)).rejects.toMatchObject({ status: 404 });
    const none = gladiaClient({ ...rig.gateway, key: secret?.secret ?? '' }).liveV2();
    await expect(none.get(ids[1] as string)).rejects.toMatchObject({ status: 404 });
  });
});
