// Ends a run with the ten files that took longest. A file of the default tier over the bound is a finding: where it takes as long
// with nothing beside it, it wants a cheaper rig, or a folder `slow/`.
import { relative } from 'node:path';
import type { Reporter, TestModule } from 'vitest/node';

const SHOWN = 10;
const DEFAULT_MS_MAX = 10_000;

export default class SlowestFiles implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    if (modules.length <= SHOWN) return;
    const files = modules.map((module) => {
      const { collectDuration, setupDuration, duration } = module.diagnostic();
      const ms = collectDuration + setupDuration + duration;
      const isFinding = !module.project.name.startsWith('slow') && ms > DEFAULT_MS_MAX;
      return { path: relative('.', module.moduleId), ms, isFinding };
    });
    const slowest = files.sort((a, b) => b.ms - a.ms).slice(0, SHOWN);
    const lines = slowest.map(({ path, ms, isFinding }) => {
      const finding = isFinding ? `, a finding: more than ${DEFAULT_MS_MAX / 1000} s` : '';
      return `${(ms / 1000).toFixed(1).padStart(7)} s  ${path}${finding}`;
    });
    console.log(`The slowest files:\n${lines.join('\n')}\n`);
  }
}
