// Phrases that read as translated, each with the words to use instead, and the places where people read text.
import { filesBelow, read } from './project.ts';
import { lineAt } from './source.ts';

export interface Phrase {
  pattern: RegExp;
  instead: string;
}

const ACTOR = 'name the person or thing: client, caller, operator, node';

/** Grows as readers find more. */
export const PHRASES: readonly Phrase[] = [
  { pattern: /\b(?:nobody|whoever|whomever|whom)\b/gi, instead: ACTOR },
  { pattern: /\b(?:somebody|anybody)\b(?! else['’]s)/gi, instead: ACTOR },
  { pattern: /\bwhatever\b/gi, instead: 'name the things, or use "any"' },
  { pattern: /\bone['’]s own\b/gi, instead: 'your own, or name the owner' },
  { pattern: /\bfor want of\b/gi, instead: 'without, because of missing' },
  { pattern: /\b(?:lets?|letting) go of\b/gi, instead: 'releases, closes' },
  { pattern: /\b(?:goes|go|going|went) on\b(?! (?:to|a|the)\b)/gi, instead: 'continues' },
  { pattern: /\bso many\b/gi, instead: 'a limited number of, or the number' },
  { pattern: /\banew\b/gi, instead: 'again' },
  { pattern: /\bby (?:it|them)sel(?:f|ves)\b/gi, instead: 'automatically, separately, alone' },
  { pattern: /\ball the same\b/gi, instead: 'anyway' },
  { pattern: /(?<!\b(?:all|any|each|most|none|one|some) )of (?:its|their) own\b/gi, instead: 'its own, a separate' },
  { pattern: /\b(?:told|tells|telling)\b/gi, instead: 'reported, reports, sent, says' },
  { pattern: /\b(?:heard|hears)\b/gi, instead: 'received, transcribed, recognised' },
  { pattern: /\basked for\b/gi, instead: 'requested' },
  { pattern: /\bbut for\b/gi, instead: 'except' },
  { pattern: /\bof late\b/gi, instead: 'recently' },
  { pattern: /\bbeside\b/gi, instead: 'next to, in addition to' },
  { pattern: /\b(?:right|comes?|sent|once) behind\b/gi, instead: 'after' },
  { pattern: /\b(?<!there )(?:is|are) no (?!longer|more|less)[a-z]/gi, instead: 'is not a' },
  { pattern: /\b(?:at a time|a turn|a minute) at most\b/gi, instead: 'at most N, per minute' },
  { pattern: /\bunder way\b/gi, instead: 'in progress' },
  { pattern: /\bbelongs? into\b/gi, instead: 'belongs in' },
  { pattern: /\bknows of\b|\bwhat became of (?:it|them)\b/gi, instead: 'knows, the result' },
  { pattern: /(?<=^|[.!] )What (?:is|was|are|has|had|it|a|an)\b[^?]*?\./gm, instead: 'a noun as the subject' },
  {
    pattern: /(?<=^|[.!] )(?:Who|Where) (?:is|was|has|a|an|the|one)\b[^?]*?\./gm,
    instead: '"If …", or a noun as the subject',
  },
];

interface Text {
  /** `path:line` */
  at: string;
  text: string;
}

export interface Place {
  name: string;
  texts(): Text[];
  /** Whether a phrase fails the check. The others are counted by `npm run structure` until they are clean. */
  enforced: boolean;
}

const linesOf = (path: string, text: string): Text[] =>
  text.split('\n').map((line, index) => ({ at: `${path}:${index + 1}`, text: line }));

/** A document without its code and its links, whose text stays. */
const prose = (text: string): string =>
  text
    .replace(/^( *)```[\s\S]*?^ *```$/gm, (block) => block.replace(/[^\n]/g, ''))
    .replace(/`[^`\n]*`/g, '``')
    .replace(/\]\([^)]*\)/g, ']');

const documents = (paths: readonly string[]): Text[] => paths.flatMap((path) => linesOf(path, prose(read(path))));

const pagesBelow = (folder: string): string[] => filesBelow(folder).filter((path) => path.endsWith('.md'));

/** The last group of each match, such as the name of a test. */
const partsOf = (paths: readonly string[], pattern: RegExp): Text[] =>
  paths.flatMap((path) => {
    const text = read(path);
    return [...text.matchAll(pattern)].map((found) => ({
      at: `${path}:${lineAt(text, found.index)}`,
      text: found.at(-1) ?? '',
    }));
  });

const code = (folder: string, end: RegExp): string[] => filesBelow(folder).filter((path) => end.test(path));

/** A quoted text of at least three words. */
const SENTENCE = /(['"`])((?:(?!\1)[^\\\n]|\\.)* (?:(?!\1)[^\\\n]|\\.)* (?:(?!\1)[^\\\n]|\\.)*)\1/g;

export const PLACES: readonly Place[] = [
  {
    name: 'README files, CHANGELOG and CONTRIBUTING',
    texts: () =>
      documents([
        'README.md',
        'CHANGELOG.md',
        'CONTRIBUTING.md',
        ...['deploy', 'clients/python', 'clients/typescript'].map((folder) => `${folder}/README.md`),
      ]),
    enforced: true,
  },
  {
    name: 'guides and operations',
    texts: () => documents(pagesBelow('docs').filter((path) => !/^docs\/(?:reference\/|performance\.md)/.test(path))),
    enforced: true,
  },
  {
    name: 'reference pages and measured performance',
    texts: () => documents(pagesBelow('docs').filter((path) => /^docs\/(?:reference\/|performance\.md)/.test(path))),
    enforced: true,
  },
  {
    name: 'help of the commands',
    // Generated from the commands, whole.
    texts: () => linesOf('docs/reference/commands.md', read('docs/reference/commands.md')),
    enforced: true,
  },
  {
    name: 'messages of errors',
    texts: () =>
      partsOf(
        code('src', /(?<!\.tsx)\.ts$/),
        /\b(?:apiError|ApiError)\(\s*(['"`])\w+\1,\s*(['"`])((?:(?!\2)[^\\]|\\.)*)/g,
      ),
    enforced: true,
  },
  {
    name: 'messages of the log',
    texts: () =>
      partsOf(
        code('src', /\.ts$/),
        /\b(?:log|logger)\??\.(?:trace|debug|info|warn|error|fatal)\([^'"`]*(['"`])((?:(?!\1)[^\\]|\\.)*)/g,
      ),
    enforced: true,
  },
  { name: 'the console', texts: () => partsOf(code('src/console', /\.tsx?$/), SENTENCE), enforced: true },
  {
    name: 'names of tests',
    // Also those that follow the rows of a table: `])('…', …)`.
    texts: () =>
      partsOf(
        code('test', /\.tsx?$/),
        /(?:^ *(?:test|it|describe)\b[.\w]*\(\s*|\)\(\s*)(['"`])((?:(?!\1)[^\\]|\\.)*)/gm,
      ),
    enforced: true,
  },
];

/** Each use of a phrase in some texts, as `path:line has "…": write …`. */
export const usesIn = (texts: readonly Text[]): string[] =>
  texts.flatMap(({ at, text }) =>
    PHRASES.flatMap(({ pattern, instead }) =>
      [...text.matchAll(pattern)].map(([found]) => `${at} has "${found}": write ${instead}.`),
    ),
  );
