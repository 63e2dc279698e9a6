// After a failover to a provider that takes no more than about real time a session is on time again, and nothing is said twice.
import { describe, expect, it } from 'vitest';
import { drawnOf } from '../../../fakes/drawn.ts';
import { seeded } from '../../../fakes/random.ts';
import {
  ANY_PAUSE,
  CHAINS,
  expectOnTime,
  expectWithinPace,
  OPENAI,
  playTalk,
  STREAMING,
  talk,
  UNIVERSAL_3,
} from './talk.ts';

describe.each(CHAINS)('%s, then %s', (...chain) => {
  it('catches up to within a second, 5 s after the connection was reset', async () => {
    for (const seed of drawnOf([1, 2])) expectOnTime(await playTalk(chain, ['drop-after=6s'], talk(seeded(seed), 10)));
  });

  it.each(['freeze', 'stall', 'drop'])(
    'delays words no more than the fallback’s pace after a %s, with pauses of 0.3 to 1.7 s',
    async (how) => {
      for (const seed of drawnOf([1, 2]))
        expectWithinPace(await playTalk(chain, [`${how}-after=1${seed}s`], talk(seeded(seed), 26, ANY_PAUSE)));
    },
  );

  it('makes up for a provider that fell silent in the first long pause, and before that with each pause', async () => {
    const turns = talk(seeded(3), 16);
    const before = turns.slice(0, -3).reduce((sum, { seconds, pauseSeconds }) => sum + seconds + pauseSeconds, 0);
    const last = turns.at(-4) as (typeof turns)[number];
    last.pauseSeconds = 20;
    const { words, failoverAt } = await playTalk(chain, ['stall-after=4s'], turns);
    const late = words.filter(({ end }) => end > failoverAt - 3 && end < before).map((word) => word.late);
    const risen = late.filter((seconds, index) => index > 0 && seconds > (late[index - 1] as number));
    expect(risen.filter((seconds) => seconds > 0.2)).toEqual([]);
    expect(words.slice(-3).filter((word) => !(word.late < 0.2))).toEqual([]);
  });
});

// What answers pauses only is known to be silent when one was long enough, and then it may be only slow.
describe.each([
  ...CHAINS.map((chain) => [...chain, chain[0] === UNIVERSAL_3 ? 15 : 5] as const),
  [OPENAI, STREAMING, 10] as const,
])('%s, then %s', (from, to, seconds) => {
  it.each(['stall', 'freeze'])(`catches up to within a second, ${seconds} s of talk after a %s`, async (how) => {
    for (const seed of drawnOf([1, 2]))
      expectOnTime(await playTalk([from, to], [`${how}-after=1${seed}s`], talk(seeded(seed), 32)), seconds);
  });
});

it('replays all audio without a final when a leg that skipped silence is lost', async () => {
  const chain = ['deepgram/nova-3', 'assemblyai/universal-streaming-english', 'openai/gpt-4o-transcribe'];
  for (const seed of drawnOf([4, 5, 6]))
    await playTalk(chain, ['stall-after=3s', `drop-after=${seed}500ms`], talk(seeded(seed), 16));
});
