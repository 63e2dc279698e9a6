// The drawings of the state charts, as they are committed, to be shown inline: their style sheet is the page's own.
import account from '../../../machines/drawings/account.svg?raw';
import apiKey from '../../../machines/drawings/api-key.svg?raw';
import breaker from '../../../machines/drawings/breaker.svg?raw';
import clientToken from '../../../machines/drawings/client-token.svg?raw';
import failover from '../../../machines/drawings/failover.svg?raw';
import node from '../../../machines/drawings/node.svg?raw';
import providerKey from '../../../machines/drawings/provider-key.svg?raw';
import session from '../../../machines/drawings/session.svg?raw';
import turn from '../../../machines/drawings/turn.svg?raw';
import upstream from '../../../machines/drawings/upstream.svg?raw';

const FILES: Readonly<Record<string, string>> = {
  account,
  'api-key': apiKey,
  breaker,
  'client-token': clientToken,
  failover,
  node,
  'provider-key': providerKey,
  session,
  turn,
  upstream,
};

/** By the id of the machine; in the order of their names. */
export const DRAWINGS: ReadonlyMap<string, string> = new Map(
  Object.entries(FILES).map(([id, svg]) => [id, svg.replace(/<style>[\s\S]*?<\/style>\n?/, '')]),
);

/** What a machine is for, in its own words. */
export function purposeOf(svg: string): string {
  return textOf(/<desc[^>]*>([^<]*)<\/desc>/.exec(svg)?.[1] ?? '').replace(/ States: .*$/, '');
}

export interface Transition {
  from: string;
  event: string;
}

/** States and the events that leave them, as the drawing has them. */
export function transitionsOf(svg: string): Transition[] {
  return [...svg.matchAll(/class="edge-text" data-edge="([^"]+)"[^>]*>(.*?)<\/g>/g)].map(
    ([, edge = '', words = '']) => ({
      from: edge.slice(0, edge.indexOf(':')),
      event: textOf(words.replaceAll(/<[^>]*>/g, ' '))
        .replaceAll(/\s+/g, ' ')
        .trim(),
    }),
  );
}

export function statesOf(svg: string): string[] {
  return [...svg.matchAll(/data-state-id="([^"]+)"/g)].map(([, id = '']) => id);
}

const textOf = (escaped: string): string =>
  escaped.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&quot;', '"').replaceAll('&amp;', '&');
