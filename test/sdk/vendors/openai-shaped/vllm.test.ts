// OpenAI's official SDK, unmodified, against the simulated vLLM; and what its sessions refuse.
import { afterEach, describe, expect, it } from 'vitest';
import { scriptEar } from '../../../../src/vendors/simulation/ears.ts';
import { simulator } from '../../../../src/vendors/vllm/simulator/index.ts';
import { Client, closeAll, serve, silence } from '../../../vendors/simulation/client.ts';
import { TURNS, testOpenaiFiles } from './openai-files.ts';

testOpenaiFiles({
  simulator,
  model: 'openai/whisper-large-v3',
  words: false,
  refused: [
    [{ model: 'none' }, 404],
    [{ response_format: 'srt' }, 400],
    [{ model: 'Qwen/Qwen3-ASR-1.7B', response_format: 'verbose_json' }, 400],
  ],
  unreadable: 400,
});

describe('a session', () => {
  afterEach(closeAll);
  const commit = (final: boolean) => ({ type: 'input_audio_buffer.commit', final });
  const append = (bytes: Uint8Array) => ({
    type: 'input_audio_buffer.append',
    audio: Buffer.from(bytes).toString('base64'),
  });
  const UPDATE = { type: 'session.update', model: 'm' };

  const open = async () => {
    const { url } = await serve({ simulator, ear: scriptEar({ turns: TURNS }) });
    const socket = new Client(`${url}/v1/realtime`);
    await socket.message('session.created');
    return socket;
  };

  it.each([
    ['model_not_found', [{ type: 'session.update', model: 'none' }]],
    ['model_not_validated', [commit(false)]],
    ['invalid_audio', [append(new Uint8Array(0))]],
    ['unknown_event', [{ type: 'input_audio_buffer.clear' }]],
    ['invalid_json', ['{']],
  ])('reports %s, and continues', async (code, frames) => {
    const socket = await open();
    socket.send(...frames);
    expect(await socket.message('error')).toMatchObject({ code });
    socket.send(UPDATE, commit(false), append(silence(1)), commit(true));
    expect(await socket.message('transcription.done')).toMatchObject({ text: 'hello and welcome' });
  });

  it('throws audio away that comes while an end is awaited, and ends at once what was ended before it began', async () => {
    const socket = await open();
    socket.send(UPDATE, commit(true), commit(false));
    expect(await socket.message('transcription.done')).toMatchObject({ text: '' });
    socket.send(commit(false), append(silence(1)), commit(true), append(silence(1)));
    expect(await socket.message('transcription.done', 2)).toMatchObject({ text: 'hello and welcome' });
  });
});
