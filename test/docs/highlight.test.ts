// Colours of code on the pages of the docs: they change nothing of the text, and a text cannot become markup by them.
import { expect, test } from 'vitest';
import { highlighted } from '../../src/docs/pages/highlight.ts';
import { escaped } from '../../src/runtime/html.ts';
import { guides } from './pages.ts';

const plain = (html: string) => html.replaceAll(/<span class="hl-(?:comment|string|number|word|name)">|<\/span>/g, '');
const parts = (text: string, language: string) =>
  [...highlighted(text, language).matchAll(/<span class="hl-(\w+)">(.*?)<\/span>/gs)].map(([, kind, part]) => [
    kind,
    part,
  ]);

test.each([
  [
    'sh',
    'curl $URL/v1 -H "A: $KEY" # sends it',
    [
      ['name', '$URL'],
      ['word', '-H'],
      ['string', '&quot;A: $KEY&quot;'],
      ['comment', '# sends it'],
    ],
  ],
  ['sh', 'open http://127.0.0.1:8080/#keys', []],
  [
    'ts',
    "const a = `x`; // why\nawait b('//', 10);",
    [
      ['word', 'const'],
      ['string', '`x`'],
      ['comment', '// why'],
      ['word', 'await'],
      ['string', '&#39;//&#39;'],
      ['number', '10'],
    ],
  ],
  [
    'python',
    'def f(): return "#"  # why',
    [
      ['word', 'def'],
      ['word', 'return'],
      ['string', '&quot;#&quot;'],
      ['comment', '# why'],
    ],
  ],
  [
    'json',
    '{"a": "b", "c": [1.5, true]}',
    [
      ['name', '&quot;a&quot;'],
      ['string', '&quot;b&quot;'],
      ['name', '&quot;c&quot;'],
      ['number', '1.5'],
      ['word', 'true'],
    ],
  ],
  [
    'ini',
    '[Service]\nUser=voxgate\n# why',
    [
      ['name', 'User'],
      ['comment', '# why'],
    ],
  ],
  [
    'xml',
    '<a b="c"/>',
    [
      ['word', '&lt;a'],
      ['string', '&quot;c&quot;'],
      ['word', '/&gt;'],
    ],
  ],
])('colours %s: %s', (language, text, expected) => {
  expect(parts(text, language)).toEqual(expected);
});

test.each(['sh', 'ts', 'js', 'python', 'json', 'xml', 'ini', 'text', '', 'constructor'])(
  'leaves the text as it is, in %j',
  (language) => {
    const hostile = '</code><script>alert("1")</script> \'"`# // <!-- {base} $1 & \\';
    expect(plain(highlighted(hostile, language))).toBe(escaped(hostile));
  },
);

test('leaves every block of the guides as it is', () => {
  const blocks = guides.flatMap((page) => page.blocks);
  expect(blocks.length).toBeGreaterThan(50);
  for (const { text, language } of blocks) expect(plain(highlighted(text, language))).toBe(escaped(text));
});
