// `npm run structure`: the size and shape of the source in figures: rooms, files, lines, imports between and inside rooms, and where the
// code is split too much or too little; and banned phrases (`-- --phrases` lists them). It reports and never fails; test/structure.test.ts enforces the rules.
import { basename, dirname } from 'node:path';
import { arrows, backwards, type Graph } from '../test/structure/graph.ts';
import { PLACES, usesIn } from '../test/structure/language.ts';
import { isWithin, placeOf, type SourceFile, sourceFiles, target } from '../test/structure/project.ts';

/** A folder with more files than this, or a file with more lines, is listed: it may hold more than one idea. */
const FILES_LISTED = 30;
const LINES_LISTED = 500;
/** A file shorter than this, with one importer in its own folder, is listed as a candidate for merging. */
const SHORT_LINES = 40;
/** The measure of how far one setting of an API key is spread, in all its spellings. */
const KEY_SETTING = /requests[-_]?per[-_]?minute/i;

const count = (graph: Graph): number => [...graph.values()].reduce((sum, targets) => sum + targets.size, 0);

const lines = (files: readonly SourceFile[]): number => files.reduce((sum, file) => sum + file.lines, 0);
const print = (title: string, rows: readonly string[]) => {
  if (rows.length > 0) console.log(`\n${title}\n${rows.map((row) => `  ${row}`).join('\n')}`);
};

const source = sourceFiles('src');
const rooms = [...new Set(source.map(({ path }) => placeOf(path)))].filter((place) => !/\.tsx?$/.test(place));
const between = arrows(source, (path) => (path.startsWith('src/') ? placeOf(path) : undefined));

const importers = new Map<string, Set<string>>();
for (const file of source)
  for (const reference of file.references) {
    const path = target(file, reference);
    if (path !== undefined) importers.set(path, (importers.get(path) ?? new Set()).add(file.path));
  }
const small = source.filter(({ path, lines: length }) => {
  const from = [...(importers.get(path) ?? [])];
  return length < SHORT_LINES && from.length === 1 && dirname(from[0] as string) === dirname(path);
});
const perFolder = new Map<string, number>();
for (const { path } of source) perFolder.set(dirname(path), (perFolder.get(dirname(path)) ?? 0) + 1);

console.table(
  rooms.map((room) => {
    const files = source.filter(({ path }) => isWithin(path, [room]));
    // A room's own files count as one node each, and so does each folder in it.
    const inside = arrows(files, (path) =>
      isWithin(path, [room]) ? path.slice(room.length + 1).split('/')[0] : undefined,
    );
    return {
      room: basename(room),
      files: files.length,
      lines: lines(files),
      nodes: inside.size,
      arrows: count(inside),
      backwards: backwards(inside).length,
    };
  }),
);
const settingFiles = source.filter(({ text }) => KEY_SETTING.test(text));
console.table({
  'rooms in src': rooms.length,
  'files in src': source.length,
  'lines in src': lines(source),
  'files in test': sourceFiles('test').length,
  'lines in test': lines(sourceFiles('test')),
  'arrows between rooms': count(between),
  'arrows between rooms that run back': backwards(between).length,
  'folders of one or two files': [...perFolder.values()].filter((files) => files <= 2).length,
  [`files under ${SHORT_LINES} lines with one importer beside them`]: small.length,
  'files that name requestsPerMinuteMax': settingFiles.length,
  'files in session/leg': perFolder.get('src/live/session/leg') ?? 0,
});
print(
  `Folders of more than ${FILES_LISTED} files:`,
  [...perFolder].filter(([, files]) => files > FILES_LISTED).map(([folder, files]) => `${folder}: ${files}`),
);
print(
  `Files of more than ${LINES_LISTED} lines:`,
  sourceFiles('src', 'machines', 'test', 'bench', 'scripts', 'bin')
    .filter(({ lines: length }) => length > LINES_LISTED)
    .map(({ path, lines: length }) => `${path}: ${length}`),
);
print(
  'Files that name requestsPerMinuteMax:',
  settingFiles.map(({ path }) => path),
);
const phrases = PLACES.map((place) => ({ ...place, uses: usesIn(place.texts()) }));
print(
  'Banned phrases, by place:',
  phrases.map(({ name, enforced, uses }) => `${name}: ${uses.length}${enforced ? ' (enforced)' : ''}`),
);
if (process.argv.includes('--phrases'))
  print(
    'Banned phrases:',
    phrases.flatMap(({ uses }) => uses),
  );
if (process.argv.includes('--small'))
  print(
    'Small files to merge:',
    small.map(({ path, lines: length }) => `${path}: ${length}`),
  );
