// Speechmatics's official client at its endpoint: what it hears where it is refused, and each message of a session.
import { describe, expect, it } from 'vitest';
import { piecesOf, startDialectRig } from '../../vendors/compat/rig.ts';
import { recognised } from '../drivers/speechmatics.ts';

describe('the official client', () => {
  const rig = startDialectRig();
  const job = (more: object) => ({ ...rig.gateway, model: 'deepgram/nova-3', sampleRate: 16_000, ...more });

  it.each([
    ['a model that is not there', { model: 'deepgram/none' }, {}, 'invalid_model'],
    [
      'an option out of range',
      { model: 'enhanced' },
      { transcription_config: { language: 'en', max_delay: 9 } },
      'invalid_config',
    ],
    ['a kind of audio', {}, { audio_format: { type: 'none' } }, 'invalid_audio_type'],
  ] as const)('gets the reason of a refusal: %s', async (_, more, config, type) => {
    await expect(recognised(job(more), [], config as never)).rejects.toThrow(type);
  });

  it('gets each message confirmed, and ends of utterances', async () => {
    const said = await recognised(job({}), piecesOf(16_000), {
      transcription_config: { language: 'en', conversation_config: { end_of_utterance_silence_trigger: 0.5 } },
    });
    const count = (name: string) => said.filter(({ message }) => message === name).length;
    expect(count('AudioAdded')).toBe(piecesOf(16_000).length);
    expect(count('AddTranscript')).toBeGreaterThan(0);
    expect(count('EndOfUtterance')).toBe(count('AddTranscript'));
    expect(said.at(-1)?.message).toBe('EndOfTranscript');
  });
});
