// Every state chart of the gateway, drawn from its own definition, with a table of what leaves each state; for the operator, with how many
// actors are in each state now, over all nodes.
import { useSignal } from '@preact/signals';
import type { MachinesView } from '../../api/console/console.ts';
import { Badge } from '../controls/notice.tsx';
import { Page } from '../controls/page.tsx';
import { Chart, DRAWINGS, purposeOf, statesOf, transitionsOf } from '../controls/state-chart.tsx';
import { Table } from '../controls/table.tsx';
import { useAnswer } from '../data/api.ts';
import { person } from '../data/organisation.ts';

const EVERY_MS = 2_000;

export function Machines() {
  const machine = useSignal('session');
  const counted = useAnswer<MachinesView>(person.value?.operator ? 'machines' : undefined, EVERY_MS);
  const states = counted.error === undefined ? counted.value?.states : undefined;
  const svg = DRAWINGS.get(machine.value) ?? '';
  const transitions = transitionsOf(svg);
  return (
    <Page
      title="Machines"
      about="What the gateway decides, it decides by these charts. A live session shows its own under Sessions."
      actions={
        <label class="row">
          Machine
          <select value={machine.value} onChange={(event) => (machine.value = event.currentTarget.value)}>
            {[...DRAWINGS.keys()].map((id) => (
              <option key={id} value={id}>
                {states?.[id] === undefined ? id : `${id} (${states[id]})`}
              </option>
            ))}
          </select>
        </label>
      }
    >
      <div class="row apart">
        <p>{purposeOf(svg)}</p>
        <Counted counted={states === undefined ? undefined : counted.value} machine={machine.value} />
      </div>
      <Chart key={machine.value} machine={machine.value} counts={states} />
      <Table
        caption="States and events"
        rows={statesOf(svg)}
        idOf={(state) => state}
        empty={<p>It has no states.</p>}
        columns={[
          { title: 'State', cell: (state) => <code>{state}</code> },
          ...(states === undefined
            ? []
            : [{ title: 'Now', isNumber: true, cell: (state: string) => states[state] ?? 0 }]),
          {
            title: 'Events that leave it, or do something in it',
            cell: (state) => (
              <ul class="plain-list">
                {transitions
                  .filter(({ from }) => from === state)
                  .map(({ event }) => (
                    <li key={event}>{event}</li>
                  ))}
              </ul>
            ),
          },
        ]}
      />
    </Page>
  );
}

/** Charts of rows of the database, such as keys, are asked what comes next, and have no actors. */
function Counted({ counted, machine }: { counted: MachinesView | undefined; machine: string }) {
  if (counted === undefined) return null;
  const { nodes, silent, states } = counted;
  const words = `${states[machine] ?? 0} now, on ${nodes.length} ${nodes.length === 1 ? 'node' : 'nodes'}`;
  const tone = silent.length > 0 ? 'warn' : 'good';
  return <Badge tone={tone}>{silent.length > 0 ? `${words}; ${silent.length} did not answer` : words}</Badge>;
}
