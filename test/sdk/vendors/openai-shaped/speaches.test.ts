// OpenAI's official SDK, unmodified, against the simulated speaches; and what its sessions do beside.
import { afterEach, describe, expect, it } from 'vitest';
import { scriptEar } from '../../../../src/vendors/simulation/ears.ts';
import { simulator } from '../../../../src/vendors/speaches/simulator/index.ts';
import { Client, closeAll, serve, silence } from '../../../vendors/simulation/client.ts';
import { TURNS, testOpenaiFiles } from './openai-files.ts';

testOpenaiFiles({
  simulator,
  model: 'Systran/faster-whisper-small',
  words: true,
  refused: [
    [{ model: 'none' }, 404],
    [{ response_format: 'diarized_json' }, 422],
  ],
  unreadable: 415,
});

describe('a session', () => {
  afterEach(closeAll);
  const append = (seconds: number) => ({
    type: 'input_audio_buffer.append',
    audio: Buffer.from(silence(seconds, 24_000)).toString('base64'),
  });

  const open = async (model = 'm') => {
    const { url } = await serve({ simulator, ear: scriptEar({ turns: TURNS }) });
    const socket = new Client(`${url}/v1/realtime?model=${model}&intent=transcription`);
    await socket.message('session.created');
    return socket;
  };

  it('ends turns automatically by default', async () => {
    const socket = await open();
    socket.send(append(1));
    const { item_id } = await socket.message('input_audio_buffer.speech_stopped');
    const final = await socket.message('conversation.item.input_audio_transcription.completed');
    expect(final).toMatchObject({ item_id, transcript: 'hello and welcome' });
  });

  it('takes no commit that is too short, no member that is missing, and no model that is not installed', async () => {
    const socket = await open('none');
    socket.send({ type: 'input_audio_buffer.commit' });
    expect(await socket.message('error')).toMatchObject({ error: { message: expect.stringMatching(/too small/) } });
    socket.send({ type: 'session.update', session: { turn_detection: { type: 'server_vad', threshold: 1 } } });
    expect(await socket.message('error', 2)).toMatchObject({ error: { type: 'invalid_request_error' } });
    socket.send(append(1));
    expect((await socket.closed).code).toBe(1011);
  });
});
