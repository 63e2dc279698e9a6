// A machine as Mermaid text, which GitHub and editors draw on their own.
// Mermaid up to 11 fails on a transition to or from a state with states inside a parallel one, so a parallel state is drawn
// closed, and each of its regions is a chart of its own.
import { type GraphEdge, type GraphNode, type MachineGraph, wordsOf } from './graph.ts';

export interface MermaidChart {
  /** Id of the state whose inside is drawn: the machine, or a region. */
  id: string;
  text: string;
}

interface Chart {
  graph: MachineGraph;
  owner: GraphNode;
  /** Ids of the states that are drawn. */
  shown: ReadonlySet<string>;
  edges: readonly GraphEdge[];
}

/** The charts of one machine: the machine itself, then each region. Every transition is in exactly one of them. */
export function toMermaid(graph: MachineGraph): MermaidChart[] {
  const kinds = new Map(graph.nodes.map(({ id, kind }) => [id, kind]));
  const owners = graph.nodes.filter(({ parent }) => parent === null || kinds.get(parent) === 'parallel');
  return owners.map((owner) => ({ id: owner.id, text: chartText(owner, graph) }));
}

/** How a state is called in Mermaid, which takes letters, digits and underscores. */
export const mermaidId = (id: string): string => id.replaceAll(/[^A-Za-z0-9]/g, '_');

function chartText(owner: GraphNode, graph: MachineGraph): string {
  const shown = new Set(shownInside(owner, graph));
  const edges = graph.edges.filter(({ from }) => shown.has(from) || from === owner.id);
  const chart = { graph, owner, shown, edges };
  const outside = graph.nodes.filter(({ id }) => !shown.has(id) && edges.some(({ to }) => to === id));
  const lines = [
    ...outside.map(({ id, key }) => declare(key, mermaidId(id))),
    ...(edges.some(({ from }) => from === owner.id) ? [declare('in every state', nameIn(chart, owner.id))] : []),
    ...inside(owner, chart),
    ...notes(chart),
  ];
  return `stateDiagram-v2\n${lines.map((line) => `  ${line}\n`).join('')}`;
}

/** All states below the owner of a chart, but not those below a parallel state. */
function shownInside(owner: GraphNode, graph: MachineGraph): string[] {
  const children = childrenOf(owner, graph);
  return children.flatMap((child) => [child.id, ...(child.kind === 'parallel' ? [] : shownInside(child, graph))]);
}

/** The states inside a state, and the transitions between them. */
function inside(state: GraphNode, chart: Chart): string[] {
  const children = childrenOf(state, chart.graph);
  const edges = chart.edges.filter((edge) => edge.to !== null && blockOf(edge, edge.to, chart) === state.id);
  return [
    ...children.flatMap((child) => stateLines(child, chart)),
    ...(state.initial === null ? [] : [`[*] --> ${mermaidId(state.initial)}`]),
    ...edges.map(
      (edge) => `${nameIn(chart, edge.from)} --> ${mermaidId(edge.to ?? '')} : ${labelOf(edge, chart.graph)}`,
    ),
    ...children.filter(({ kind }) => kind === 'final').map(({ id }) => `${mermaidId(id)} --> [*]`),
  ];
}

function stateLines(state: GraphNode, chart: Chart): string[] {
  const id = mermaidId(state.id);
  const declared = declare(state.key, id);
  if (state.kind === 'compound') return [`${declared} {`, ...inside(state, chart).map((line) => `  ${line}`), '}'];
  const regions = childrenOf(state, chart.graph).map(({ key }) => key);
  const details = [
    ...(regions.length > 0 ? [`at once ${regions.join(', ')}`] : []),
    ...state.invokes.map((invoke) => `runs ${invoke.id}`),
    ...(state.entry.length > 0 ? [`entry / ${state.entry.join(', ')}`] : []),
    ...(state.exit.length > 0 ? [`exit / ${state.exit.join(', ')}`] : []),
  ];
  return [declared, ...details.map((detail) => `${id} : ${detail}`)];
}

/** Transitions that do not leave their state are told in a note beside it. */
function notes(chart: Chart): string[] {
  const staying = chart.edges.filter(({ to }) => to === null);
  return [...new Set(staying.map(({ from }) => from))].flatMap((from) => [
    `note right of ${nameIn(chart, from)}`,
    ...staying.filter((edge) => edge.from === from).map((edge) => `  ${labelOf(edge, chart.graph)}`),
    'end note',
  ]);
}

/** The state in whose block a transition is written: the innermost one that holds both ends. */
function blockOf({ from }: GraphEdge, to: string, { owner, shown, graph }: Chart): string {
  const parents = new Map(graph.nodes.map(({ id, parent }) => [id, parent]));
  let block = parents.get(from) ?? owner.id;
  while (shown.has(block) && !to.startsWith(`${block}.`)) block = parents.get(block) ?? owner.id;
  return shown.has(block) ? block : owner.id;
}

const childrenOf = ({ id }: GraphNode, { nodes }: MachineGraph): GraphNode[] =>
  nodes.filter(({ parent }) => parent === id);

const declare = (name: string, id: string): string => `state "${name}" as ${id}`;

/** The owner of a chart has no box of its own; what holds in all its states starts from a box that says so. */
const nameIn = ({ owner }: Chart, id: string): string => `${mermaidId(id)}${id === owner.id ? '_any' : ''}`;

function labelOf(edge: GraphEdge, graph: MachineGraph): string {
  const { event, guard, actions } = wordsOf(edge, graph);
  return [event, guard, actions].filter((words) => words !== '').join(' ');
}
