// Installs packages that only some commands need, each in a folder with a lock file of its own, unless they are there already:
//   node scripts/install/parts.js test/sdk
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = resolve(fileURLToPath(import.meta.url), '../../..');

for (const folder of process.argv.slice(2)) {
  const lock = readFileSync(join(root, folder, 'package-lock.json'));
  const wanted = `${createHash('sha256').update(lock).digest('hex')} ${process.versions.modules}`;
  const stamp = join(root, folder, 'node_modules/.installed');
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === wanted) continue;
  console.error(`Installing the packages of ${folder} …`);
  execFileSync('npm', ['ci', '--loglevel=error'], { cwd: join(root, folder), stdio: ['ignore', 'inherit', 'inherit'] });
  writeFileSync(stamp, wanted);
}
