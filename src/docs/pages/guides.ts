// The documents of the project, which are Markdown in its folder docs: read when the documents are made, shown on request.
import { readFileSync } from 'node:fs';
import { posix } from 'node:path';
import { type Links, type MarkdownPage, markdownPage } from './markdown.ts';

/** Compiled files lie one folder deeper, and so does what they are built with. */
const FOLDER = new URL('../../../docs/', import.meta.url);
const INDEX = 'README.md';
const LOCAL_LINK = /\]\(([\w/-]+\.md)\)/g;

export interface Guide {
  /** In the address: `guides/failover`; empty for the first page. */
  name: string;
  title: string;
  /** The heading of the first page under which it is linked; empty for the first page itself. */
  section: string;
  /** As it is written. */
  text: string;
  page(): MarkdownPage;
}

/** Those that the first page links to, in its order. */
export function readGuides(folder: URL = FOLDER): readonly Guide[] {
  const index = readFileSync(new URL(INDEX, folder), 'utf8');
  const sections = new Map([[INDEX, ''], ...linksBySection(index)]);
  const served = new Set(sections.keys());
  return [...sections].map(([file, section]) =>
    guideOf(file, section, file === INDEX ? index : readFileSync(new URL(file, folder), 'utf8'), served),
  );
}

function linksBySection(index: string): [file: string, section: string][] {
  return index.split(/^## /m).flatMap((part) => {
    const section = part.slice(0, part.indexOf('\n'));
    return [...part.matchAll(LOCAL_LINK)].map(([, file = '']): [string, string] => [file, section]);
  });
}

function guideOf(file: string, section: string, text: string, served: ReadonlySet<string>): Guide {
  let made: MarkdownPage | undefined;
  return {
    name: nameOf(file),
    title: /^# (.+)$/m.exec(text)?.[1] ?? file,
    section,
    text,
    page: () => {
      made ??= markdownPage(text, (href) => targetOf(href, file, served));
      return made;
    },
  };
}

const nameOf = (file: string): string => (file === INDEX ? '' : file.replace(/\.md$/, ''));
/** Of a file of the folder. */
export const docsAddress = (file: string): string => `/docs/${nameOf(file)}`.replace(/\/$/, '');

function targetOf(href: string, from: string, served: ReadonlySet<string>): ReturnType<Links> {
  if (/^(?:https:\/\/|#)/.test(href)) return { address: href };
  const [path = '', ...anchor] = href.split('#');
  const file = posix.join('docs', posix.dirname(from), path);
  const own = posix.relative('docs', file);
  return served.has(own) ? { address: [docsAddress(own), ...anchor].join('#') } : { file };
}
