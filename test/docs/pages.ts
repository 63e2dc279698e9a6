// The documents of the project as tests read them: headings, links, code within lines and blocks of code.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

export const ROOT = join(import.meta.dirname, '../..');
export const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');

export interface Page {
  /** From the project's folder. */
  path: string;
  text: string;
  /** What can stand behind `#` in a link to it. */
  anchors: ReadonlySet<string>;
  links: readonly string[];
  /** Code within lines. */
  codes: readonly string[];
  blocks: readonly { language: string; text: string }[];
}

const BLOCK = /^```(\w*)\n([\s\S]*?)^```$/gm;
const FOLDERS = ['.', 'deploy', 'docs', 'machines', 'src', 'scripts', 'test'];

export const pages: readonly Page[] = FOLDERS.flatMap((folder) =>
  readdirSync(join(ROOT, folder), { recursive: folder !== '.', encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .map((name) => pageOf(join(folder, name))),
);

/** Those that tell people how to use the product. */
export const guides = pages.filter(({ path }) => /^(?:README|CONTRIBUTING|docs\/.*|deploy\/.*)\.md$/.test(path));

function pageOf(path: string): Page {
  const text = read(path);
  const lines = text.replaceAll(BLOCK, '');
  const matches = (pattern: RegExp, within: string) => [...within.matchAll(pattern)].map(([, found = '']) => found);
  return {
    path,
    text,
    anchors: anchorsOf(matches(/^#{1,6} (.+)$/gm, lines)),
    links: matches(/\]\(([^)\s]+)\)/g, lines.replaceAll(/`[^`\n]*`/g, '')),
    codes: matches(/`([^`\n]+)`/g, lines),
    blocks: [...text.matchAll(BLOCK)].map(([, language = '', inner = '']) => ({ language, text: inner })),
  };
}

/** As Git hosts make them: small letters, hyphens for spaces, a number behind what stands there already. */
function anchorsOf(titles: readonly string[]): Set<string> {
  const anchors = new Set<string>();
  for (const title of titles) {
    const anchor = title
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
      .replaceAll(' ', '-');
    let number = 0;
    while (anchors.has(number === 0 ? anchor : `${anchor}-${number}`)) number += 1;
    anchors.add(number === 0 ? anchor : `${anchor}-${number}`);
  }
  return anchors;
}
