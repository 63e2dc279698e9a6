// Reads TypeScript as text for the structure test: which words are code, and what a file imports.
// Not a parser: it knows comments, strings, templates and regular expressions, and leaves the rest as it is.

/** One reference of a file to another module, with the line it stands on. */
export interface Reference {
  /** As written: a package, `node:…` or a relative path. Worker files are given as `./<name>.ts`. */
  specifier: string;
  line: number;
}

/** Blanks what is not code. Quotes, length and line breaks stay, so that positions are those of the original. */
export function codeOnly(text: string): string {
  let code = '';
  let at = 0;
  /** Open braces of each `${…}` that surrounds the position, innermost last. */
  const templates: number[] = [];
  const keep = (length: number) => {
    code += text.slice(at, at + length);
    at += length;
  };
  const blankTo = (end: number) => {
    code += text.slice(at, end).replace(/[^\n]/g, ' ');
    at = end;
  };
  const blankTemplate = () => {
    blankTo(endOf(text, at, /\\[\s\S]|`|\$\{/g, (found) => found[0] !== '\\'));
    if (text[at] === '$') templates.push(0);
    keep(text[at] === '$' ? 2 : 1);
  };

  while (at < text.length) {
    const character = text[at] as string;
    if (text.startsWith('//', at)) blankTo(endOf(text, at, /\n/g));
    else if (text.startsWith('/*', at)) blankTo(Math.min(text.length, endOf(text, at + 2, /\*\//g) + 2));
    else if (character === "'" || character === '"') {
      keep(1);
      blankTo(endOf(text, at, character === "'" ? /\\[\s\S]|['\n]/g : /\\[\s\S]|["\n]/g, (found) => found[0] !== '\\'));
      keep(1);
    } else if (character === '`') {
      keep(1);
      blankTemplate();
    } else if (character === '}' && templates.at(-1) === 0) {
      templates.pop();
      keep(1);
      blankTemplate();
    } else if (character === '/' && startsExpression(code)) {
      keep(1);
      blankTo(endOf(text, at, /\\[\s\S]|\[(?:\\[\s\S]|[^\]\\])*\]|[/\n]/g, (found) => found === '/' || found === '\n'));
      keep(1);
    } else {
      const depth = templates.length - 1;
      if (depth >= 0 && character === '{') templates[depth] = (templates[depth] as number) + 1;
      if (depth >= 0 && character === '}') templates[depth] = (templates[depth] as number) - 1;
      keep(1);
    }
  }
  return code;
}

/** Where the first accepted match at or after `from` begins, or the end of the text. */
function endOf(text: string, from: number, pattern: RegExp, accepts: (found: string) => boolean = () => true): number {
  pattern.lastIndex = from;
  for (let match = pattern.exec(text); match !== null; match = pattern.exec(text)) {
    if (accepts(match[0])) return match.index;
  }
  return text.length;
}

/** Whether a slash after this code begins a regular expression rather than divides. */
function startsExpression(code: string): boolean {
  const before = code.trimEnd();
  return before === '' || /[(,=:[!&|?{;+\-*%<>~^]$|\b(?:return|typeof|case|of|in|yield|await)$/.test(before);
}

/** Ways of naming a module, up to the opening quote; the rest tells what is meant by the words in the quotes. */
const REFERENCES: readonly { pattern: RegExp; specifier(written: string): string | undefined }[] = [
  // import … from '…', import '…', export … from '…'
  { pattern: /\b(?:import|export)\b(?:[^;'"`()]*?\bfrom)?\s*['"]/g, specifier: (written) => written },
  {
    pattern: /\b(?:import|require|require\.resolve|createRequire\([^()]*\))\s*\(\s*['"]/g,
    specifier: (written) => written,
  },
  { pattern: /\bworkerFile\(\s*import\.meta\.url\s*,\s*['"]/g, specifier: (written) => `./${written}.ts` },
  { pattern: /\bnew URL\(\s*['"]/g, specifier: (written) => (/^\..*\.[jt]s$/.test(written) ? written : undefined) },
];

/** Everything a file refers to, `import type`, dynamic imports and started files included. */
export function referencesOf(text: string, code: string): Reference[] {
  return REFERENCES.flatMap(({ pattern, specifier }) =>
    [...code.matchAll(pattern)].flatMap((match) => {
      const start = match.index + match[0].length;
      const quote = text[start - 1] as string;
      const named = specifier(text.slice(start, text.indexOf(quote, start)));
      return named === undefined ? [] : { specifier: named, line: lineAt(text, match.index) };
    }),
  );
}

export function lineAt(text: string, index: number): number {
  return text.slice(0, index).split('\n').length;
}
