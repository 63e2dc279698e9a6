// The plain pages that mails lead to: a sentence, perhaps a form, no script. What they do is in the files beside it.
import { escaped, htmlPage, pageHeaders } from '../../../../documents/pages/html.ts';
import type { Reply } from '../../../door.ts';
import { STAY_WITH_TLS } from '../../../http/stay-with-tls.ts';

const STYLE =
  'body{font:1rem/1.5 system-ui,sans-serif;max-width:34rem;margin:12vh auto;padding:0 1.5rem;color:#1c1c1e;background:#fff}' +
  'button,input{font:inherit;padding:.5rem .9rem;margin:.4rem 0}input{width:100%;box-sizing:border-box}' +
  'pre{white-space:pre-wrap;overflow-wrap:anywhere;border-left:.2rem solid #c7c7cc;padding-left:1rem}' +
  '@media(prefers-color-scheme:dark){body{color:#f2f2f7;background:#1c1c1e}a{color:#8ab4f8}}';

const HEADERS: Readonly<Record<string, string>> = {
  ...pageHeaders(STYLE, { forms: `'self'` }),
  'Cache-Control': 'no-store',
  'X-Frame-Options': 'DENY',
};

/**
 * @param content HTML; whatever came from outside has gone through `escaped`
 * @param tls whether the door speaks TLS itself: then browsers are told to stay with it
 */
export function page(status: number, title: string, content: string, tls: boolean): Reply {
  const body = htmlPage(title, STYLE, `<main><h1>${escaped(title)}</h1>\n${content}\n</main>`);
  return { status, headers: tls ? { ...HEADERS, ...STAY_WITH_TLS } : { ...HEADERS }, body };
}
