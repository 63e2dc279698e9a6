// The search over the pages: sections between headings, found by the words that they hold. The result is a page like the others.
import { escaped } from '../../runtime/html.ts';

/** What can be found: where it is, the page it is of, its heading, and its text. */
interface Section {
  address: string;
  page: string;
  heading: string;
  text: string;
  /** Names that rows of its tables can be linked to by. */
  names: readonly string[];
}

export type Search = (query: string) => string;

const WORDS_MAX = 8;
const RESULTS_MAX = 30;
/** Of the text around the first word that was found. */
const EXCERPT_BEFORE = 60;
const EXCERPT_LENGTH = 200;

/** A search over pages, by their addresses and titles. Gives the HTML of what was found. */
export function searchOf(pages: readonly { address: string; title: string; content(): string }[]): Search {
  let made: readonly Section[] | undefined;
  return (query) => {
    made ??= pages.flatMap(({ address, title, content }) => sectionsOf(address, title, content()));
    const words = query.toLowerCase().split(/\s+/).filter(Boolean).slice(0, WORDS_MAX);
    if (words.length === 0) return '<p>Give a word or two.</p>';
    const found = made
      .map((section) => ({ section, weight: weightOf(section, words) }))
      .filter(({ weight }) => weight > 0)
      .sort((a, b) => b.weight - a.weight)
      .slice(0, RESULTS_MAX);
    if (found.length === 0)
      return `<p>Nothing has ${words.map((word) => `<code>${escaped(word)}</code>`).join(' and ')} in it.</p>`;
    return `<ol class="found">\n${found.map(({ section }) => resultHtml(section, words)).join('\n')}\n</ol>`;
  };
}

/** 0 where a word is missing. */
function weightOf({ page, heading, text, names }: Section, words: readonly string[]): number {
  const places = [
    [heading.toLowerCase(), 8],
    [page.toLowerCase(), 4],
    [text.toLowerCase(), 1],
  ] as const;
  let weight = 0;
  for (const word of words) {
    const own = places.reduce((sum, [place, worth]) => sum + (place.includes(word) ? worth : 0), 0);
    if (own === 0) return 0;
    weight += own + (names.some((name) => name.toLowerCase() === word) ? 20 : 0);
  }
  return weight;
}

function resultHtml({ address, page, heading, text, names }: Section, words: readonly string[]): string {
  const exact = names.find((name) => words.includes(name.toLowerCase()));
  const target = exact === undefined ? address : `${address.split('#')[0]}#${exact}`;
  const title = heading === page ? page : `${page}: ${exact ?? heading}`;
  return `<li><a href="${escaped(target)}">${escaped(title)}</a><br>${excerptHtml(text, words)}</li>`;
}

function excerptHtml(text: string, words: readonly string[]): string {
  const at = Math.max(0, ...words.slice(0, 1).map((word) => text.toLowerCase().indexOf(word)));
  const from = Math.max(0, at - EXCERPT_BEFORE);
  const excerpt = text.slice(from, from + EXCERPT_LENGTH);
  return escaped(`${from > 0 ? '…' : ''}${excerpt}${from + EXCERPT_LENGTH < text.length ? '…' : ''}`);
}

function sectionsOf(address: string, page: string, html: string): Section[] {
  const [before = '', ...pieces] = html.split(/(?=<h[23] id=")/);
  const first: Section = { address, page, heading: page, text: plain(before), names: namesIn(before) };
  return [
    first,
    ...pieces.map((piece) => {
      const [, id = '', heading = ''] = /^<h[23] id="([^"]*)">(.*?)<\/h[23]>/s.exec(piece) ?? [];
      const rest = piece.slice(piece.indexOf('</h'));
      return {
        address: `${address}#${plain(id)}`,
        page,
        heading: plain(heading),
        text: plain(rest.slice(5)),
        names: namesIn(rest),
      };
    }),
  ];
}

const namesIn = (html: string): string[] => [...html.matchAll(/<code id="([^"]*)">/g)].map(([, id = '']) => plain(id));

const CHARACTERS: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'" };

/** The text of HTML that was made here. */
const plain = (html: string): string =>
  html
    .replaceAll(/<[^>]*>/g, ' ')
    .replaceAll(/&(amp|lt|gt|quot|#39);/g, (_, name: string) => CHARACTERS[name] as string)
    .replaceAll(/\s+/g, ' ')
    .trim();
