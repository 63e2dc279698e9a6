// Colours for blocks of code, set when a page is made: comments, strings, numbers and words of the language. What it does not know
// stays plain text.
import { escaped } from '../../runtime/html.ts';

type Kind = 'comment' | 'string' | 'number' | 'word' | 'name';
type Rules = readonly (readonly [Kind, RegExp])[];

const STRING: Rules[number] = ['string', /"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'/];
const NUMBER: Rules[number] = ['number', /(?<![\w.-])\d[\d_]*(?:\.\d+)?(?![\w.-])/];
const wordsOf = (words: string): Rules[number] => ['word', new RegExp(`(?<![\\w.$-])(?:${words})(?![\\w-])`)];
const HASH_COMMENT: Rules[number] = ['comment', /(?<![^\s])#.*/];

const SCRIPT: Rules = [
  ['comment', /\/\/.*|\/\*[\s\S]*?\*\//],
  ['string', /`(?:\\.|[^`\\])*`/],
  STRING,
  wordsOf(
    'as|async|await|break|case|catch|class|const|continue|default|else|export|extends|false|finally|for|from|function|if|import|in|instanceof|interface|let|new|null|of|return|static|switch|this|throw|true|try|type|typeof|undefined|while|yield',
  ),
  NUMBER,
];
const SHELL: Rules = [
  HASH_COMMENT,
  STRING,
  ['name', /\$\{?\w+\}?/],
  ['word', /(?<=\s)--?[a-zA-Z][\w-]*/],
  wordsOf('case|do|done|else|esac|export|fi|for|function|if|in|then|while'),
];
const PYTHON: Rules = [
  HASH_COMMENT,
  ['string', /"""[\s\S]*?"""/],
  STRING,
  wordsOf(
    'and|as|async|await|break|class|continue|def|elif|else|except|False|finally|for|from|if|import|in|is|lambda|None|not|or|pass|raise|return|True|try|while|with|yield',
  ),
  NUMBER,
];
const JSON_TEXT: Rules = [
  ['name', /"(?:\\.|[^"\\\n])*"(?=\s*:)/],
  STRING,
  wordsOf('true|false|null'),
  ['number', /-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/],
];
const LINES: Rules = [HASH_COMMENT, ['name', /^[ \t]*[\w.-]+(?=\s*[:=])/m], STRING, NUMBER];
const MARKUP: Rules = [['comment', /<!--[\s\S]*?-->/], ['word', /<\/?[\w:-]+|\/?>/], STRING];

const LANGUAGES: Readonly<Record<string, Rules>> = {
  bash: SHELL,
  html: MARKUP,
  ini: LINES,
  js: SCRIPT,
  json: JSON_TEXT,
  python: PYTHON,
  sh: SHELL,
  ts: SCRIPT,
  xml: MARKUP,
  yaml: LINES,
};

/** The HTML of a block's text: escaped, with each part that has a colour in a `span` of its kind. */
export function highlighted(text: string, language: string): string {
  const rules = Object.hasOwn(LANGUAGES, language) ? (LANGUAGES[language] as Rules) : undefined;
  if (rules === undefined) return escaped(text);
  const pattern = new RegExp(rules.map(([, { source }]) => `(${source})`).join('|'), 'gm');
  let html = '';
  let after = 0;
  for (const match of text.matchAll(pattern)) {
    const kind = rules[match.slice(1).findIndex((part) => part !== undefined)]?.[0];
    html += `${escaped(text.slice(after, match.index))}<span class="hl-${kind}">${escaped(match[0])}</span>`;
    after = match.index + match[0].length;
  }
  return html + escaped(text.slice(after));
}

/** A block of code. It scrolls where a line is long, so it takes the focus. */
export function code(text: string, language = ''): string {
  const named = /^\w+$/.test(language) ? ` class="language-${language}"` : '';
  return `<pre tabindex="0"><code${named}>${highlighted(text, language)}</code></pre>`;
}
