// Imports among files as a graph between folders or rooms, and which of its arrows run backwards.
import { type SourceFile, target } from './project.ts';

export type Graph = ReadonlyMap<string, ReadonlySet<string>>;

/** The imports among files, as arrows between what `nodeOf` names; undefined leaves a file out. */
export function arrows(files: readonly SourceFile[], nodeOf: (path: string) => string | undefined): Graph {
  const graph = new Map<string, Set<string>>();
  for (const file of files) {
    const from = nodeOf(file.path);
    if (from === undefined) continue;
    const targets = graph.get(from) ?? new Set();
    graph.set(from, targets);
    for (const reference of file.references) {
      const path = target(file, reference);
      const to = path === undefined ? undefined : nodeOf(path);
      if (to !== undefined && to !== from) targets.add(to);
    }
  }
  return graph;
}

/**
 * The arrows that run backwards in an order that has few of them: sinks are taken first, then sources, then the node with the most
 * arrows out over arrows in (the heuristic of Eades, Lin and Smyth). None where the graph has no cycle.
 */
export function backwards(graph: Graph): string[] {
  const left = new Set([...graph.keys(), ...[...graph.values()].flatMap((targets) => [...targets])]);
  const out = (node: string) => [...(graph.get(node) ?? [])].filter((to) => left.has(to)).length;
  const into = (node: string) => [...left].filter((from) => graph.get(from)?.has(node)).length;
  const first: string[] = [];
  const last: string[] = [];
  while (left.size > 0) {
    const nodes = [...left].sort();
    const sink = nodes.find((node) => out(node) === 0);
    const source = nodes.find((node) => into(node) === 0);
    const next =
      sink ?? source ?? nodes.reduce((best, node) => (out(node) - into(node) > out(best) - into(best) ? node : best));
    if (sink === undefined) first.push(next);
    else last.unshift(next);
    left.delete(next);
  }
  const order = new Map([...first, ...last].map((node, at) => [node, at]));
  return [...graph].flatMap(([from, targets]) =>
    [...targets].filter((to) => (order.get(to) as number) < (order.get(from) as number)).map((to) => `${from} → ${to}`),
  );
}
