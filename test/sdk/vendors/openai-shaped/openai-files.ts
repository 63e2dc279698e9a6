// OpenAI's official SDK, unmodified, with files, against a simulated service that claims to take them as OpenAI does.
import OpenAI from 'openai';
import { afterEach, describe, expect, it } from 'vitest';
import type { ProviderSimulator } from '../../../../src/vendors/kit/simulation.ts';
import { scriptEar } from '../../../../src/vendors/simulation/ears.ts';
import { silentWav } from '../../../fakes/audio/audio-files.ts';
import { closeAll, serve } from '../../../vendors/simulation/client.ts';

export const TURNS = [
  { text: 'hello and welcome', seconds: 1 },
  { text: 'good bye', seconds: 1 },
];

interface Service {
  simulator: ProviderSimulator;
  model: string;
  /** Whether words have times. */
  words: boolean;
  /** What is refused beside a file that is none, by change of the form, with which status. */
  refused: readonly (readonly [change: object, status: number])[];
  /** How a file is refused that is none. */
  unreadable: number;
}

export function testOpenaiFiles({ simulator, model, words, refused, unreadable }: Service): void {
  const wav = (content: Uint8Array = silentWav(2)) =>
    new File([new Uint8Array(content)], 'audio.wav', { type: 'audio/wav' });

  describe("OpenAI's SDK with files", () => {
    afterEach(closeAll);

    const audio = async () => {
      const { url } = await serve({ simulator, ear: scriptEar({ turns: TURNS }) });
      return new OpenAI({ apiKey: 'good', baseURL: `${url}/v1`, maxRetries: 0 }).audio.transcriptions;
    };

    it('gets the text, and times on request', async () => {
      const transcriptions = await audio();
      const { text } = await transcriptions.create({ model, file: wav() });
      expect(text.replace(/\s+/g, ' ').trim()).toBe('hello and welcome good bye');
      const whole = await transcriptions.create({
        ...{ model, file: wav(), response_format: 'verbose_json' as const },
        ...(words ? { timestamp_granularities: ['segment' as const, 'word' as const] } : {}),
      });
      expect(whole).toMatchObject({ duration: 2, segments: [{ start: 0 }, { start: 1, end: 2 }] });
      if (words) expect(JSON.stringify(whole).match(/"word":/g)?.length).toBeGreaterThanOrEqual(5);
    });

    it.each([...refused, [{ file: wav(Buffer.from('no audio at all')) }, unreadable] as const])(
      'fails with %j',
      async (change, status) => {
        const asked = { model, file: wav(), ...change };
        await expect((await audio()).create(asked)).rejects.toMatchObject({ status });
      },
    );
  });
}
