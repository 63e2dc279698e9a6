// The drawings of the state charts, as they are committed, to be shown inline: their style sheet is the page's own.
const files = import.meta.glob<string>('../../../machines/drawings/*.svg', {
  query: '?raw',
  import: 'default',
  eager: true,
});

/** By the id of the machine; in the order of their names. */
export const DRAWINGS: ReadonlyMap<string, string> = new Map(
  Object.entries(files).map(([path, svg]) => [
    path.replace(/^.*\/(.+)\.svg$/, '$1'),
    svg.replace(/<style>[\s\S]*?<\/style>\n?/, ''),
  ]),
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
