// What is kept out of the code, and what to write instead.
import { describe, expect, test } from 'vitest';
import { expectNone } from './expect-none.ts';
import { isWithin, type SourceFile, sourceFiles, target } from './project.ts';
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
    name: 'reads no name of a class or function: the bundler renames them',
    what: /\bconstructor\??\.name\b|\bnew\.target\.name\b/g,
    within: ['machines', 'src'],
    except: ['src/console'],
    instead: 'give it a `name`, as errors have',
  },
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

/** Banned in operations of the store: each copy of a database must get the same rows (src/store/entry.ts). */
const IMPURE =
  /\bDate\.now\b|\bnew Date\(\)|\bperformance\.|\bMath\.random\b|\bprocess\.(?:hrtime|uptime|env|pid)\b|\b(?:crypto|webcrypto)\.|(?<![.\w])set(?:Timeout|Immediate)\(|\buuidv7\(|\btoLocale\w+\(|\bIntl\./g;

/** The file and all files whose code it imports, directly or not. Imports of types are not followed. */
function reachedFrom(path: string): SourceFile[] {
  const files = new Map(sourceFiles('src', 'machines').map((file) => [file.path, file]));
  const reached = new Set<SourceFile>();
  const waiting = [path];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const file = files.get(next);
    if (file === undefined || reached.has(file)) continue;
    reached.add(file);
    const lines = file.text.split('\n');
    for (const reference of file.references) {
      const to = target(file, reference);
      if (to !== undefined && !/^(?:import|export) type\b/.test(lines[reference.line - 1] ?? '')) waiting.push(to);
    }
  }
  return [...reached];
}

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

  test('of store operations, and of all that they import, uses no clock and no random source', () => {
    const files = reachedFrom('src/node/store/tables.ts');
    expect(files.length).toBeGreaterThan(30);
    const found = [...places(files, IMPURE, 'code')].map(
      ({ at, found: what }) =>
        `${at} has ${what}: use the time of the entry and the ids drawn for the call (src/store/entry.ts).`,
    );
    const drawing = files.flatMap(({ path, text }) =>
      [...text.matchAll(/import (?!type\b)\{([^}]*)\} from 'node:crypto'/g)].flatMap(([, names = '']) =>
        names
          .split(',')
          .map((name) => name.trim())
          .filter((name) => name !== '' && !/^(?:type |createHash$|hash$)/.test(name))
          .map((name) => `${path} imports ${name}: of this module, only hashes depend on their input alone.`),
      ),
    );
    expectNone([...found, ...drawing]);
  });

  test('says in a comment why a test is skipped', () => {
    const unexplained = [...places(sourceFiles('test'), /\.(?:skip|skipIf|runIf|todo)\(/g, 'code')].filter(
      ({ lines }) => !lines.some((line) => /\/\/|\*\//.test(line)),
    );
    expectNone(unexplained.map(({ at, found }) => `${at} has ${found}: say why in a comment on the line above.`));
  });
});
