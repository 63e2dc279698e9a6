// What is kept out of the code, and what to write instead.
import { describe, test } from 'vitest';
import { expectNone } from './expect-none.ts';
import { isWithin, type SourceFile, sourceFiles } from './project.ts';
import { lineAt } from './source.ts';

interface Ban {
  name: string;
  what: RegExp;
  within: readonly string[];
  except?: readonly string[];
  /** `text` looks into comments and strings as well. */
  view?: 'code' | 'text';
  instead: string;
}

const PURE = ['machines', 'src/audio', 'src/config/prices', 'src/vendors'];
const CLIENT = 'clients/typescript/src';
const PRODUCT = ['machines', 'src', CLIENT];
const PROCESS = ['src/cli', 'src/main.ts'];
const EVERYWHERE = ['bench', 'bin', CLIENT, 'machines', 'scripts', 'src', 'test'];
const BANS: readonly Ban[] = [
  {
    name: 'takes the time from outside where it decides',
    what: /\bDate\.now\(|\bnew Date\(\)|\bperformance\.now\(/g,
    within: PURE,
    instead: 'take the time as an argument, or a Clock',
  },
  {
    name: 'throws no dice where it decides',
    what: /\bMath\.random\(/g,
    within: PURE,
    instead: 'take the value as an argument',
  },
  {
    name: 'arms no timers where it decides',
    what: /(?<![.\w])set(?:Timeout|Immediate)\(/g,
    within: PURE,
    except: ['machines/clock.ts'],
    instead: 'state the delay as data, or take a Clock',
  },
  {
    name: 'repeats by one timer after the other',
    what: /\bsetInterval\(/g,
    within: PRODUCT,
    instead: 'arm the next timer when the work is done, so that slow work does not pile up',
  },
  {
    name: 'writes to the log and not to the console',
    what: /\bconsole\./g,
    within: PRODUCT,
    // The decoders print there; that thread counts what they print.
    except: [...PROCESS, 'src/files/decoding/worker.ts'],
    instead: 'use the log of src/runtime/telemetry',
  },
  {
    name: 'leaves the end of the process to the commands',
    what: /\bprocess\.exit\(/g,
    within: PRODUCT,
    except: [...PROCESS, 'src/recogniser/dictation/worker.ts', 'src/recogniser/workers/model-process.ts'],
    instead: 'throw, and let the command decide',
  },
  {
    name: 'watches actors in one place',
    what: /(?<!\bbus)\.subscribe\(/gi,
    within: PRODUCT,
    except: ['src/cluster/bus', 'src/runtime/actors.ts'],
    instead: 'use startObserved of src/runtime/actors.ts: an observer that throws ends the process',
  },
  {
    name: 'carries no notes of unfinished work',
    // Put together, so that this file does not find itself.
    what: new RegExp(
      `\\b(?:${['TO', 'FIX', 'HA', 'X'].map((head, at) => head + ['DO', 'ME', 'CK', 'XX'][at]).join('|')})\\b`,
      'g',
    ),
    within: EVERYWHERE,
    view: 'text',
    instead: 'do it, or drop it',
  },
  {
    name: 'switches no check off',
    what: new RegExp(['@ts-' + '(?:ignore|expect-error|nocheck)', 'biome-' + 'ignore'].join('|'), 'g'),
    within: EVERYWHERE,
    view: 'text',
    instead: 'mend the cause',
  },
  {
    name: 'names no folder of a machine',
    what: /['"`]\/(?:work|tmp|home|root|Users)\//g,
    within: EVERYWHERE,
    view: 'text',
    instead: 'take folders from the configuration, or from os.tmpdir()',
  },
  {
    name: 'runs no test alone',
    what: /\b(?:test|it|describe|suite)\b[.\w]*\.only\(/g,
    within: ['test'],
    instead: 'take .only out',
  },
];

const everything = sourceFiles(...EVERYWHERE);

/** Where a pattern stands in code, as `path:line`. */
function* places(files: readonly SourceFile[], pattern: RegExp, view: 'code' | 'text') {
  for (const file of files) {
    for (const match of file[view].matchAll(pattern)) {
      const line = lineAt(file[view], match.index);
      yield {
        at: `${file.path}:${line}`,
        found: match[0],
        lines: file.text.split('\n').slice(Math.max(0, line - 2), line),
      };
    }
  }
}

describe('the code', () => {
  test.each(BANS.map((ban) => [ban.name, ban] as const))('%s', (_name, ban) => {
    const { what, within, except = [], view = 'code', instead } = ban;
    const files = everything.filter(({ path }) => isWithin(path, within) && !isWithin(path, except));
    expectNone([...places(files, what, view)].map(({ at, found }) => `${at} has ${found}: ${instead}.`));
  });

  test('says in a comment why a test is skipped', () => {
    const unexplained = [...places(sourceFiles('test'), /\.(?:skip|skipIf|runIf|todo)\(/g, 'code')].filter(
      ({ lines }) => !lines.some((line) => /\/\/|\*\//.test(line)),
    );
    expectNone(unexplained.map(({ at, found }) => `${at} has ${found}: say why in a comment on the line above.`));
  });
});
