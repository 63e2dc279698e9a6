// Whether this Node can run the program at all, said before anything is loaded that might not even parse.
import { readFileSync } from 'node:fs';

/** sysexits.h: something is configured wrongly. */
export const EXIT_CONFIG = 78;

/**
 * @param {string} version of Node, as in `process.versions.node`
 * @param {string} range as in `engines.node` of package.json: `>=20.19.0 <25`
 * @returns {string | undefined} One sentence for the terminal, or nothing when it fits.
 */
export function misfit(version, range) {
  const [, least = '', below = ''] = /^>=([\d.]+) <(\d+)$/.exec(range) || [];
  const isOld = compared(version, least) < 0;
  const isNew = compared(version, below) >= 0;
  if (!isOld && !isNew) return undefined;
  return `voxgate: this is Node ${version}, and Voxgate runs on Node ${least} or newer, below ${below}.`;
}

/**
 * @param {string} one
 * @param {string} other
 */
function compared(one, other) {
  const [a, b] = [one, other].map((version) => version.split('.').map(Number));
  for (let at = 0; at < 3; at++) {
    const difference = (a?.[at] ?? 0) - (b?.[at] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}

/** Ends the process with one sentence where this Node does not fit. */
export function requireFittingNode() {
  const text = readFileSync(new URL('../package.json', import.meta.url), 'utf8');
  const problem = misfit(process.versions.node, JSON.parse(text).engines.node);
  if (problem === undefined) return;
  console.error(problem);
  process.exit(EXIT_CONFIG);
}
