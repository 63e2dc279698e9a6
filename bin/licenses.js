// The licences of the packages that the bundles contain: they have to come along with them.
import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

const PACKAGE = /^(?:.*:)?(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//;
const TEXT = /^(?:licen[cs]e|copying|notice)/i;

/**
 * @param {string} root What the paths are relative to.
 * @param {Iterable<string>} inputs The files that were bundled, as esbuild names them.
 * @returns {string} One text, in the order of the packages' names.
 */
export function licensesOf(root, inputs) {
  const folders = new Set([...inputs].flatMap((path) => PACKAGE.exec(path.replaceAll('\\', '/'))?.[1] ?? []));
  const texts = [...folders].map((folder) => licenseOf(resolve(root, folder)));
  return [...new Set(texts)].sort().join('\n');
}

/** @param {string} folder */
function licenseOf(folder) {
  const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  const files = readdirSync(folder).filter((file) => TEXT.test(file));
  const texts = files.map((file) => readFileSync(join(folder, file), 'utf8').trim());
  return [`${name} ${version} (${license})`, ...texts, ''].join('\n\n');
}
