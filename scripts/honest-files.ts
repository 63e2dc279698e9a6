// Makes test/fixtures/audio/honest.tar.gz again: `npm run honest-files`. Needs ffmpeg, sox and tar, and as
// `fdk-ffmpeg` an ffmpeg with libfdk_aac.
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ARCHIVE, LENGTHS, make, SOURCE } from '../test/audio/length/honest/made.ts';
import { recipes } from '../test/audio/length/honest/recipes.ts';

const SECONDS = 1;

const directory = await mkdtemp(join(tmpdir(), 'honest-'));
const lengths = [];
for (const recipe of recipes(SOURCE, SECONDS)) {
  if (!recipe.isFixture) continue;
  const { name, seconds, spareSeconds } = await make(recipe, directory);
  lengths.push({ name, seconds, spareSeconds });
}
writeFileSync(join(directory, LENGTHS), JSON.stringify(lengths));
const members = [LENGTHS, ...lengths.map(({ name }) => name)];
const options = ['--format=ustar', '--owner=0', '--group=0', '--mtime=2026-01-01', '-I', 'gzip -9n'];
execFileSync('tar', [...options, '-cf', ARCHIVE, '-C', directory, ...members]);
await rm(directory, { recursive: true });
