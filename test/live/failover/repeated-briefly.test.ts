// People repeat a word at once, and the repetition may last only some milliseconds, for example where the audio ends within it.
// It is a separate word with every provider, and a final that is sent twice is still recognised.
import { expect, it } from 'vitest';
import type { EarMessage } from '../../../src/vendors/kit/simulation.ts';
import { type EarSource, numberedEar } from '../../../src/vendors/simulation/ears.ts';
import { numberedAudio } from '../../fakes/audio/numbered-audio.ts';
import { Incident } from './incident.ts';
import { PROTOCOLS } from './protocols.ts';

const TURN_SECONDS = 0.4;
const TURNS = 3;
const plain = (text: string): string => text.toLowerCase().replace(/[^a-z ]/g, '');

/** Hears the same word in every turn, without a pause between them. */
const hearing =
  (word: string): EarSource =>
  (clock) => {
    const open = numberedEar({ turnSeconds: TURN_SECONDS })(clock);
    return (request, listener, onRoom) => open(request, (message) => listener(saying(word, message)), onRoom);
  };

function saying(word: string, message: EarMessage): EarMessage {
  if ((message.type !== 'interim' && message.type !== 'final') || message.text === '') return message;
  const { start, end } = message;
  return { ...message, text: word, words: [{ word, start, end }] };
}

const CASES = PROTOCOLS.flatMap(({ slug, provider, fallback }) =>
  [4, 9, 16].map((milliseconds) => ({ slug, provider, fallback, milliseconds })),
);

it.each(CASES)(
  '$slug reports a word that is repeated in the last $milliseconds ms exactly once',
  async ({ slug, provider, fallback, milliseconds }) => {
    const seconds = TURNS * TURN_SECONDS + milliseconds / 1_000;
    const speech = { audio: (rate: number) => numberedAudio(0, Math.round(seconds * rate)), ear: hearing('Yes.') };
    for (const faults of [[], ['duplicate-finals']]) {
      const incident = new Incident({ speech, faults: { [provider]: faults } });
      const { client } = await incident.play([slug, fallback]);
      await incident.close();
      const words = client.finals.flatMap(({ text }) => plain(text).split(' ')).filter((word) => word !== '');
      expect(words, faults.join()).toEqual(Array.from({ length: TURNS + 1 }, () => 'yes'));
    }
  },
);
