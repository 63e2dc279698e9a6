// The project's own files and map, as the structure test looks at them. Judges nothing.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { codeOnly, type Reference, referencesOf } from './source.ts';

const root = join(import.meta.dirname, '../..');

export interface SourceFile {
  /** Relative to the project's folder, with forward slashes. */
  path: string;
  text: string;
  /** The text with comments and the insides of strings blanked. */
  code: string;
  lines: number;
  references: readonly Reference[];
}

/** A row of the map in src/README.md: a folder or file (relative to the project's folder) and its layer. */
export interface MapRow {
  place: string;
  layer: number;
}

export function read(path: string): string {
  return readFileSync(join(root, path), 'utf8');
}

export function exists(path: string): boolean {
  return existsSync(join(root, path));
}

export function folders(path: string): string[] {
  return readdirSync(join(root, path), { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map((entry) => entry.name);
}

/** Every file of the project below a folder, sorted. */
export function filesBelow(folder: string): string[] {
  return readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(root.length + 1))
    .filter((path) => !path.includes('/node_modules/'))
    .sort();
}

/** The code of some folders. */
export function sourceFiles(...places: string[]): SourceFile[] {
  return places
    .flatMap(filesBelow)
    .filter((path) => /\.[jt]sx?$/.test(path))
    .map((path) => {
      const text = read(path);
      const code = codeOnly(text);
      return { path, text, code, lines: text.split('\n').length - 1, references: referencesOf(text, code) };
    });
}

/** The project path that a relative reference leads to; undefined for packages and Node's own modules. */
export function target(file: SourceFile, reference: Reference): string | undefined {
  if (!reference.specifier.startsWith('.')) return undefined;
  // What is made of the file may be named after it: `./icon.svg?raw`.
  return join(dirname(file.path), reference.specifier.replace(/\?.*$/, ''));
}

/** The package a reference names; undefined for relative paths and Node's own modules. */
export function packageOf({ specifier }: Reference): string | undefined {
  if (specifier.startsWith('.') || specifier.startsWith('node:')) return undefined;
  const [first, second] = specifier.split('/');
  return first?.startsWith('@') ? `${first}/${second}` : first;
}

/** The layer table of src/README.md: rows of layer number, place in backticks and caption. */
export function layerMap(): MapRow[] {
  return [...read('src/README.md').matchAll(/^\| (\d+) \| `([^`]+)` \| [^|\n]+ \|$/gm)].map(([, layer, name]) => ({
    place: name === 'machines' ? 'machines' : `src/${name}`,
    layer: Number(layer),
  }));
}

/** The paths that the map names in backticks, relative to the project's folder: `<name>` is any folder, `*` any text. */
export function mapPaths(): string[] {
  const named = [...read('src/README.md').matchAll(/`([\w.*<>/-]+)`/g)].map(([, path]) => path as string);
  const paths = named.filter((path) => /^\.\.\/|\w\/\w|\w\/<|\.tsx?$/.test(path));
  return [...new Set(paths.map((path) => (path.startsWith('test/') ? path : join('src', path))))];
}

/** Whether a file or folder, or one that a pattern fits, is in the project. */
export function isThere(path: string): boolean {
  const pattern = path.replace(/<\w+>|\*/g, '*').split('/');
  return (
    pattern.reduce<string[]>(
      (found, part) =>
        found.flatMap((folder) => {
          if (!part.includes('*')) return exists(join(folder, part)) ? [join(folder, part)] : [];
          const fits = new RegExp(`^${part.replaceAll('.', '\\.').replaceAll('*', '.*')}$`);
          return readdirSync(join(root, folder))
            .filter((name) => fits.test(name))
            .map((name) => join(folder, name));
        }),
      ['.'],
    ).length > 0
  );
}

/** The place of the map that a file belongs to. */
export function placeOf(path: string): string {
  const [first, second] = path.split('/');
  return first === 'src' ? `${first}/${second}` : (first as string);
}

/** Whether a file is one of some places or lies in one. */
export function isWithin(path: string, places: readonly string[]): boolean {
  return places.some((place) => path === place || path.startsWith(`${place}/`));
}

/** The circles among the imports of some files, one for each group of files that reach each other: paths in import order. */
export function circles(files: readonly SourceFile[]): string[][] {
  const byPath = new Map(files.map((file) => [file.path, file]));
  const done = new Set<string>();
  const found: string[][] = [];
  const visit = (path: string, trail: readonly string[]): void => {
    const file = byPath.get(path);
    if (file === undefined || done.has(path)) return;
    if (trail.includes(path)) {
      found.push(trail.slice(trail.indexOf(path)));
      return;
    }
    for (const reference of file.references) visit(target(file, reference) ?? '', [...trail, path]);
    done.add(path);
  };
  for (const { path } of files) visit(path, []);
  return found;
}
