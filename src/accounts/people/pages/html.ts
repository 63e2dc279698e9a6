// The plain pages that mails lead to: a sentence, perhaps a form, no script. What they do is in the files beside it.

import type { WholeReply } from '../../../http/door.ts';
import { STAY_WITH_TLS } from '../../../http/http/stay-with-tls.ts';
import { escaped, htmlPage, pageHeaders } from '../../../runtime/html.ts';

/** The colours of the console, which these pages lead to. */
const STYLE =
  ':root{color-scheme:light dark}' +
  'body{font:.9375rem/1.5 Inter,system-ui,sans-serif;margin:0;padding:min(12vh,6rem) 1rem 2rem;color:light-dark(#17201d,#eceeed);background:light-dark(#fbfbfa,#111315)}' +
  'main{max-width:30rem;margin:0 auto;padding:1.5rem;background:light-dark(#fff,#191c1f);border:1px solid light-dark(#e0e2e1,#2c3135);border-radius:.5rem}' +
  'h1{font-size:1.5rem;line-height:1.25;margin:0 0 1rem}h2{font-size:1.125rem;margin:1.5rem 0 .5rem}label{font-weight:500}' +
  'input,button{font:inherit;border-radius:.3rem;border:1px solid light-dark(#878f8c,#6d767c);padding:.4rem .6rem}' +
  'input{width:100%;box-sizing:border-box;margin-top:.25rem;color:inherit;background:light-dark(#fff,#191c1f)}' +
  'button{font-weight:500;padding:.4rem .85rem;cursor:pointer;color:light-dark(#fff,#06211d);background:light-dark(#0f766e,#37c2b1);border-color:light-dark(#0f766e,#37c2b1)}' +
  'a{color:light-dark(#0f766e,#37c2b1)}[role=alert]{padding:.75rem 1rem;border:1px solid;border-radius:.5rem;color:light-dark(#b3261e,#ff8a80);background:light-dark(#fcebea,#3b1613)}' +
  'pre{white-space:pre-wrap;overflow-wrap:anywhere;border-left:.2rem solid light-dark(#e0e2e1,#2c3135);padding-left:1rem}';

const HEADERS: Readonly<Record<string, string>> = {
  ...pageHeaders(STYLE, { forms: `'self'` }),
  'Cache-Control': 'no-store',
  'X-Frame-Options': 'DENY',
};

/**
 * @param content HTML; whatever came from outside has gone through `escaped`
 * @param tls whether the door speaks TLS itself: then browsers are told to stay with it
 */
export function page(status: number, title: string, content: string, tls: boolean): WholeReply {
  const body = htmlPage(title, STYLE, `<main><h1>${escaped(title)}</h1>\n${content}\n</main>`);
  return { status, headers: tls ? { ...HEADERS, ...STAY_WITH_TLS } : { ...HEADERS }, body };
}
