// Files that are not committed, made by the programs that people use: AAC of every rate, channel count and bit rate, and files of a
// minute.
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { measured } from '../../../fakes/audio/measured.ts';
import { programOf } from '../../../fakes/processes/programs.ts';
import { temporaryDirectory } from '../../../fakes/temporary-directory.ts';
import { isRight, make, SOURCE } from '../honest/made.ts';
import { type Recipe, recipes } from '../honest/recipes.ts';

const SECONDS = 2;
const LONG_SECONDS = 60;
/** Two for each core of a small machine: most of the time a program starts. */
const AT_A_TIME = 4;

const directory = temporaryDirectory();
const hasPrograms = programOf('ffmpeg') !== undefined && programOf('sox') !== undefined;

const made = (seconds: number): readonly Recipe[] => recipes(SOURCE, seconds).filter(({ isFixture }) => !isFixture);

/** What is wrong with each of them. */
async function wrongOf(wanted: readonly Recipe[]): Promise<string[]> {
  const wrong: string[] = [];
  const waiting = [...wanted];
  const work = async () => {
    for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
      const file = await make(next, directory);
      const audio = measured(file.bytes);
      if (!isRight(audio?.seconds ?? 0, file) || audio?.isDamaged) wrong.push(`${file.name}: ${JSON.stringify(audio)}`);
      await rm(join(directory, file.name));
    }
  };
  await Promise.all(Array.from({ length: AT_A_TIME }, work));
  return wrong;
}

// The programs may be missing outside the build.
it.runIf(hasPrograms)(
  'files of a hundred more kinds are measured within one percent or one packet',
  async () => {
    const all = made(SECONDS);
    expect(all.length).toBeGreaterThan(100);
    expect(await wrongOf(all)).toEqual([]);
  },
  300_000,
);

// The programs may be missing outside the build.
it.runIf(hasPrograms)(
  'files of a minute are measured within one percent',
  async () => {
    const long = ['aac-16000-1-96.m4a', 'aac-48000-2-320.m4a', 'aac-fragments.mp4', 'lame-320.mp3', 'opus-60.webm'];
    const source = join(directory, 'long.wav');
    await make(
      {
        name: 'long.wav',
        command: ['sox', SOURCE, 'long.wav', 'repeat', '4'],
        seconds: 0,
        spareSeconds: 0,
        isFixture: false,
      },
      directory,
    );
    const all = recipes(source, LONG_SECONDS).filter(({ name }) => long.includes(name));
    expect(all).toHaveLength(long.length);
    expect(await wrongOf(all)).toEqual([]);
  },
  300_000,
);
