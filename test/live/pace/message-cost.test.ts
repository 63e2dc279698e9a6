// How many messages a text counts as, by what it came to.
import { describe, expect, it } from 'vitest';
import { MessageCost, type ReadMessage } from '../../../src/live/pace/message-cost.ts';

const NOTHING: ReadMessage = {
  ...{ bytes: 100, isBinary: false, pieces: 0, audioBytes: 0 },
  ...{ isAnswered: false, saysMore: false },
};
const audioOf = (audioBytes: number, bytes = Math.ceil(audioBytes / 3) * 4 + 120): ReadMessage => ({
  ...NOTHING,
  ...{ bytes, pieces: 1, audioBytes },
});
const MIB = 1_048_576;

function weightOf(messages: readonly ReadMessage[]): number {
  const cost = new MessageCost();
  return messages.reduce((sum, message) => sum + cost.weigh(message, true), 0);
}
const times = (count: number, ...messages: ReadMessage[]) => Array.from({ length: count }, () => messages).flat();

describe('a text with audio', () => {
  it.each([1, 80, 160, 640, 4_800, 3 * MIB])('counts as none, also in pieces of %i bytes', (bytes) => {
    expect(weightOf(times(1_000, audioOf(bytes)))).toBe(0);
    expect(weightOf(times(1_000, { ...audioOf(bytes), isAnswered: true }))).toBe(0);
  });

  it.each([80, 160, 640, 4_800])(
    'accounts for one that waits for it, or is the other track of a call: pieces of %i bytes',
    (bytes) => {
      const waits = { ...audioOf(bytes), pieces: 0, audioBytes: 0 };
      const both = { ...audioOf(bytes), audioBytes: 2 * bytes };
      expect(weightOf(times(1_000, both, waits))).toBe(0);
    },
  );

  it('accounts for no more than 64 KiB that come to nothing', () => {
    expect(weightOf([...times(1_000, audioOf(640)), ...times(64, NOTHING)])).toBe(0);
    expect(weightOf([...times(1_000, audioOf(640)), ...times(74, NOTHING)])).toBe(10);
  });

  it('counts as one where it asks for something as well, and by what is in it besides', () => {
    expect(weightOf([{ ...audioOf(640), saysMore: true }])).toBe(1);
    expect(weightOf([audioOf(1, 10 * 1024)])).toBe(8);
    expect(weightOf([audioOf(1, MIB)])).toBe(65);
  });
});

describe('a text without audio', () => {
  it.each([
    [2, 1],
    [1_500, 2],
    [MIB, 65],
  ])('counts %i bytes as %i where they have no effect', (bytes, weight) => {
    expect(weightOf([{ ...NOTHING, bytes }])).toBe(weight);
  });

  it.each([{ isAnswered: true }, { saysMore: true }])('counts after anything before it: %o', (said) => {
    expect(weightOf([...times(1_000, audioOf(640)), ...times(10, { ...NOTHING, ...said })])).toBe(10);
  });

  it('counts as received where text never carries audio', () => {
    expect(new MessageCost().weigh({ ...NOTHING, saysMore: true }, false)).toBe(0);
  });
});

it.each([
  ['is audio', { pieces: 1 }, 0],
  ['is audio and answered', { pieces: 1, isAnswered: true }, 0],
  ['comes to nothing', {}, 0],
  ['is answered', { isAnswered: true }, 1],
  ['is not a message', { saysMore: true }, 1],
])('weighs a binary message that %s', (_, said, weight) => {
  for (const isTextAudio of [true, false])
    expect(new MessageCost().weigh({ ...NOTHING, isBinary: true, bytes: MIB, ...said }, isTextAudio)).toBe(weight);
});
