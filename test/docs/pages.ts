// The documents of the project as tests read them: headings, links, code within lines and blocks of code.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { lexer, walkTokens } from 'marked';
import { anchorsOf, plainText } from '../../src/docs/pages/guides.ts';

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

const FOLDERS = ['.', 'clients/python', 'clients/typescript', 'deploy', 'docs', 'machines', 'src', 'scripts', 'test'];

export const pages: readonly Page[] = FOLDERS.flatMap((folder) =>
  readdirSync(join(ROOT, folder), { recursive: folder !== '.', encoding: 'utf8' })
    .filter((name) => name.endsWith('.md') && !name.includes('node_modules'))
    .map((name) => pageOf(join(folder, name))),
);

/** Those that tell people how to use the product. */
export const guides = pages.filter(({ path }) => /^(?:README|CONTRIBUTING|docs\/.*|deploy\/.*)\.md$/.test(path));

function pageOf(path: string): Page {
  const text = read(path);
  const titles: string[] = [];
  const links: string[] = [];
  const codes: string[] = [];
  const blocks: Page['blocks'][number][] = [];
  walkTokens(lexer(text), (token) => {
    if (token.type === 'heading') titles.push(plainText(token.tokens ?? []));
    if (token.type === 'link' || token.type === 'image') links.push(token.href);
    if (token.type === 'codespan') codes.push(token.text);
    if (token.type === 'code') blocks.push({ language: token.lang ?? '', text: token.text });
  });
  return { path, text, anchors: new Set(anchorsOf(titles)), links, codes, blocks };
}
