// Finals that come twice, late, under other names or without words, at every provider with a live protocol: each word is in one final,
// each turn has one, and none is without words; whether the session stays with the provider or loses it in the middle of it.
import { describe, expect, it } from 'vitest';
import { Incident, textsOf } from '../incident.ts';
import { PROTOCOLS } from '../protocols.ts';
import { turnsOf } from '../spoken.ts';
import { DISTURBANCES, disturbed } from './disturbances.ts';

const DIALOGUE = ['Good morning.', 'This is the second turn.', 'Yes.', 'Yes.', 'That is all.'];

const plain = (text: string): string => text.toLowerCase().replace(/[^\w ]/g, '');

describe.each(PROTOCOLS)('$slug', ({ slug, provider, fallback }) => {
  describe.each(Object.entries(DISTURBANCES))('says %s', (_, disturb) => {
    it.each([
      ['stays connected', []],
      ['is lost in the third turn', ['drop-after=4700ms']],
      ['is lost behind the fourth turn', ['close-after=7700ms']],
    ])('delivers every word in one final, and no empty final, when it %s', async (_how, faults) => {
      const turns = turnsOf(DIALOGUE, 1.2, 0.8);
      const incident = new Incident({ turns, simulator: disturbed(provider, disturb), faults: { [provider]: faults } });
      const caller = await incident.play([slug, fallback]);
      expect(plain(textsOf(caller).join(' '))).toBe(plain(DIALOGUE.join(' ')));
      expect(caller.client.finals.filter(({ text }) => text === '')).toEqual([]);
      expect(caller.client.of('discontinuity')).toEqual([]);
      expect(caller.client.closeCode).toBe(1000);
      await incident.close();
    });
  });
});
