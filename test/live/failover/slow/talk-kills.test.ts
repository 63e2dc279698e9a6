// Providers lost at any moment of talk, in the middle of words, behind them and in pauses, drawn from seeds: whatever is lost when,
// each word is told once and in its place. A failure names its seed.
import { describe, expect, test } from 'vitest';
import { seeded } from '../../../fakes/random.ts';
import { ANY_PAUSE, CHAINS, expectOnTime, expectWithinPace, playTalk, talk, UNIVERSAL_3 } from '../lateness/talk.ts';

const SEEDS = 20;
const WORDS = 14;

describe.each(CHAINS)('%s, then %s', (...chain) => {
  test('delivers every word once, in its place, and on time 5 s after a reset', async () => {
    for (let seed = 1; seed <= SEEDS; seed++) {
      const random = seeded(seed);
      const turns = talk(random, WORDS);
      const how = random.pick(['drop', 'stall', 'freeze', 'close']);
      const fault = `${how}-after=${random.integer(2_000, 9_000)}ms`;
      const played = playTalk(chain, [fault], turns);
      await played.catch((error: unknown) => expect.fail(`seed ${seed}, ${fault}: ${error}`));
      if (how === 'drop' || how === 'close') expectOnTime(await played);
    }
  }, 240_000);

  test('delays words no more than the fallback’s pace, with pauses of 0.3 to 1.7 s', async () => {
    for (let seed = 1; seed <= SEEDS; seed++) {
      const random = seeded(seed);
      const turns = talk(random, 2 * WORDS, ANY_PAUSE);
      const fault = `${random.pick(['drop', 'stall', 'freeze', 'close'])}-after=${random.integer(2_000, 20_000)}ms`;
      const played = playTalk(chain, [fault], turns);
      await played.then(expectWithinPace).catch((error: unknown) => expect.fail(`seed ${seed}, ${fault}: ${error}`));
    }
  }, 240_000);

  // What answers pauses only is noticed later.
  if (chain[0] === UNIVERSAL_3) return;

  test('catches up 5 s after it fell silent, once it has answered twenty times', async () => {
    for (let seed = 1; seed <= SEEDS; seed++) {
      const random = seeded(seed);
      const turns = talk(random, 2 * WORDS);
      const fault = `${random.pick(['stall', 'freeze'])}-after=${random.integer(10_000, 20_000)}ms`;
      const played = playTalk(chain, [fault], turns).then((talk) => expectOnTime(talk));
      await played.catch((error: unknown) => expect.fail(`seed ${seed}, ${fault}: ${error}`));
    }
  }, 240_000);
});
