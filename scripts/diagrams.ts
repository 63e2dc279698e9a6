// The drawings of the machines and the page that shows them, made from the machines themselves.
// How a drawing is laid out and looks is decided in diagrams/, what a machine is made of in machines/drawing/graph.ts.
import { type MachineGraph, toGraph } from '../machines/drawing/graph.ts';
import { toMermaid } from '../machines/drawing/mermaid.ts';
import { machines } from '../machines/index.ts';
import { layOut, type Picture } from './diagrams/layout.ts';
import { RULES } from './diagrams/style.ts';
import { toSvg } from './diagrams/svg.ts';
import type { Generator } from './generator.ts';

export interface Drawn {
  graph: MachineGraph;
  picture: Picture;
}

export const diagrams: Generator = {
  name: 'diagrams',
  command: 'npm run diagrams',
  files: async () => filesOf(await drawAll()),
};

/** All machines, laid out, in reading order. */
export async function drawAll(): Promise<Drawn[]> {
  const graphs = machines.map(({ machine }) => toGraph(machine));
  return Promise.all(graphs.map(async (graph) => ({ graph, picture: await layOut(graph) })));
}

/** The page and a drawing for each machine: whole contents by path. */
export function filesOf(drawn: readonly Drawn[]): ReadonlyMap<string, string> {
  return new Map([
    ['machines/README.md', readme(drawn.map(({ graph }) => graph))],
    [
      'machines/drawings/chart.css',
      `/* Made by \`${diagrams.command}\`: the look of a drawing that a page shows inline. */\n${RULES}`,
    ],
    ...drawn.map(({ graph, picture }): [string, string] => [`machines/${fileOf(graph)}`, toSvg(graph, picture)]),
  ]);
}

const fileOf = ({ id }: MachineGraph): string => `drawings/${id}.svg`;

function readme(graphs: readonly MachineGraph[]): string {
  return `<!-- Made by \`${diagrams.command}\` from the machines in this folder. Do not edit by hand. -->
# Machines

What the gateway decides, as state charts. They hold no socket, timer or text: a host in \`src\` gives them actors and
actions, and tells them of boundaries only. \`index.ts\` lists them in this order.

${graphs.map(({ id, description }) => `- [${id}](#${id}): ${description ?? ''}`).join('\n')}

How to read a drawing: an arrow says **event** [guard] / actions. A dashed arrow with a clock is taken after a time, a red
one when something that the state runs has failed. A dashed frame is a region: a parallel state is in all its regions at
once. A double border is an end, a coloured chip a tag. A line inside a state is a transition that does not leave it; an
arrow from the line under the name of a machine is taken in every state. Alternatives of one event are tried in order, and
\`[else]\` takes what is left.

${graphs.map(section).join('\n')}`;
}

function section(graph: MachineGraph): string {
  const charts = toMermaid(graph);
  const texts = charts.map(
    ({ id, text }) => `${charts.length > 1 ? `\`${id}\`\n\n` : ''}\`\`\`mermaid\n${text}\`\`\`\n`,
  );
  return `## ${graph.id}

${graph.description ?? ''} Decided in [${graph.id}.ts](${graph.id}.ts).

[![State chart of ${graph.id}](${fileOf(graph)})](${fileOf(graph)})

<details>
<summary>The same in Mermaid</summary>

${texts.join('\n')}
</details>
`;
}
