// The second opinion with its real model in a real process: it takes no other sound for a voice, and misses no honest speech.
import { afterAll, describe, expect, test } from 'vitest';
import { Recogniser } from '../../../src/recogniser/recogniser.ts';
import { VoiceScan } from '../../../src/recogniser/voice/scan.ts';
import { type Clip, honestClips, voicelessClips } from '../voice-clips.ts';

const recogniser = new Recogniser({
  ...{ workers: 1, streamsMax: 8, queueBytesMax: 16 * 1024 ** 2, dictationStreamsMax: 16, dictationSlots: 2 },
});
afterAll(() => recogniser.close());

/** Where the first voice begins, in seconds, with 0.6 s of silence on both sides. */
function firstVoice({ samples, sampleRate }: Clip): Promise<number | undefined> {
  const pause = Math.round(0.6 * sampleRate);
  const audio = new Int16Array(samples.length + 2 * pause);
  audio.set(samples, pause);
  return new Promise((resolve, reject) => {
    const scan: VoiceScan = new VoiceScan({
      engine: recogniser,
      organisationId: 'org_1',
      sampleRate,
      from: 0,
      read: (position, count) => audio.slice(position, position + count),
      changed: () => look(),
    });
    const look = () => {
      const isOver = scan.firstVoice !== undefined || scan.knownTo >= audio.length - pause;
      if (!isOver && scan.isOver) reject(new Error('The detector failed.'));
      if (!isOver) scan.advance();
      if (!isOver) return;
      scan.stop();
      resolve(scan.firstVoice === undefined ? undefined : scan.firstVoice / sampleRate);
    };
    look();
  });
}

describe('a search for voices', () => {
  test.each(voicelessClips().map((clip) => [clip.name, clip] as const))('finds none in %s', async (_name, clip) => {
    expect(await firstVoice(clip)).toBeUndefined();
  });

  test('finds honest speech: short words, whispers, quiet, by telephone, with noise behind it', async () => {
    const missed: string[] = [];
    for (const clip of honestClips()) {
      const start = await firstVoice(clip);
      if (start === undefined || start < 0.3) missed.push(`${clip.name}: ${start}`);
    }
    expect(missed).toEqual([]);
  }, 120_000);
});
