// The packages of the Python clients: installed from PyPI once, into a virtual environment below .cache that is named after its pins.
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

/** Whatever other Python is first on the PATH: the pins have hashes for this one. */
const SYSTEM_PYTHON = '/usr/bin/python3';
const PINS = fileURLToPath(new URL('../../python/requirements.txt', import.meta.url));
const CACHE = fileURLToPath(new URL('../../../../.cache/python-sdks', import.meta.url));
const INSTALL_MS_MAX = 300_000;
/** What pip writes when PyPI does not answer, and not when a package is missing there or has another hash. */
const UNREACHABLE = /after connection broken by|Could not fetch URL|ConnectionError|Read timed out/;

export type Packages = { python: string } | { missing: string };

const run = promisify(execFile);

/** Rejects when the packages cannot be installed for any other reason than that PyPI or Python is missing. */
export async function installPackages(): Promise<Packages> {
  const pins = readFileSync(PINS);
  const { stdout: version } = await run(SYSTEM_PYTHON, ['-c', 'import ensurepip, sys; print(sys.version)']).catch(
    () => ({
      stdout: '',
    }),
  );
  if (version === '') {
    const missing = 'python3 with python3-venv is not installed';
    if (process.env.CI === 'true') throw new Error(missing);
    return { missing };
  }
  const name = createHash('sha256').update(version).update(pins).digest('hex').slice(0, 16);
  const folder = `${CACHE}/${name}`;
  const python = `${folder}/bin/python`;
  if (existsSync(folder)) return { python };
  const partial = `${folder}.${process.pid}`;
  mkdirSync(CACHE, { recursive: true });
  try {
    await run(SYSTEM_PYTHON, ['-m', 'venv', partial]);
    await run(`${partial}/bin/python`, ['-m', 'pip', ...INSTALL, '-r', PINS], { timeout: INSTALL_MS_MAX });
    // Another process may have been faster.
    if (!existsSync(folder)) renameSync(partial, folder);
    return { python };
  } catch (error) {
    const { stderr, killed } = error as { stderr?: string; killed?: boolean };
    if (killed === true) return { missing: `PyPI did not deliver the packages within ${INSTALL_MS_MAX / 1000} s` };
    if (UNREACHABLE.test(String(stderr))) return { missing: 'PyPI cannot be reached' };
    throw error;
  } finally {
    rmSync(partial, { recursive: true, force: true });
  }
}

const INSTALL = [
  ...['--disable-pip-version-check', '--retries', '1', '--timeout', '20', 'install', '--quiet'],
  // The pins name every package that is needed, and no source is built.
  ...['--no-deps', '--only-binary', ':all:', '--require-hashes', '--no-compile'],
];
