// The documents for programs that read: their Markdown as it is written, and the list of it, `/llms.txt`.
import { docsAddress, type Guide } from './guides.ts';

/** Examples are written for a gateway on the reader's machine; they are shown for the one that serves them. */
const withBase = (text: string, base: string): string =>
  text.replaceAll('ws://127.0.0.1:8080', base.replace(/^http/, 'ws')).replaceAll('http://127.0.0.1:8080', base);

export const markdownFor = ({ text }: Pick<Guide, 'text'>, base: string): string => withBase(text, base);

/** As llmstxt.org has it: a title, a summary, and links by section, out of the first page. */
export function llmsText(guides: readonly Guide[], base: string): string {
  const [index] = guides;
  const [head = '', ...sections] = (index?.text ?? '').split(/^(?=## )/m);
  const [, summary = ''] = head.split('\n\n');
  const linked = sections
    .join('')
    .replaceAll(/\]\(([\w/-]+\.md)\)/g, (_, file: string) => `](${base}${docsAddress(file)}.md)`);
  return `# Voxgate

> ${summary.replaceAll('\n', ' ')}

## For programs

- [OpenAPI](${base}/openapi.json): the HTTP interface
- [AsyncAPI](${base}/asyncapi.json): the live interface

${withBase(linked, base)}`;
}
