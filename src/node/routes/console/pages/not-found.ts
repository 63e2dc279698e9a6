// The page that a browser gets at an address where nothing is. Programs get the refusal as JSON.

import { page } from '../../../../accounts/people/pages/html.ts';
import { printable, type Refusal } from '../../../../api/errors.ts';
import type { DoorRequest, WholeReply } from '../../../../http/door.ts';
import { escaped } from '../../../../runtime/html.ts';

const PATH_SHOWN_MAX = 200;
const LINKS = '<p><a href="/">Console</a> · <a href="/docs">Documents</a></p>';

/** @param hasConsole whether this node serves people and clients */
export function notFoundPage({ path }: DoorRequest, { message }: Refusal, hasConsole: boolean): WholeReply {
  const shown = escaped(printable(path.slice(0, PATH_SHOWN_MAX)));
  const said = hasConsole ? `Nothing is at <code>${shown}</code> on this gateway.` : escaped(message);
  const reply = page(404, 'There is no such page', `<p>${said}</p>${hasConsole ? LINKS : ''}`, false);
  return { ...reply, headers: { ...reply.headers, Vary: 'Accept' } };
}
