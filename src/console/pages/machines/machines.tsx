// Every state chart of the gateway, drawn from its own definition, with a table of what leaves each state.
import { useSignal } from '@preact/signals';
import { Chart } from '../../charts/chart.tsx';
import { DRAWINGS, purposeOf, statesOf, transitionsOf } from '../../charts/drawings.ts';
import { Page } from '../../controls/page.tsx';
import { Table } from '../../controls/table.tsx';

export function Machines() {
  const machine = useSignal('session');
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
              <option key={id}>{id}</option>
            ))}
          </select>
        </label>
      }
    >
      <p>{purposeOf(svg)}</p>
      <Chart key={machine.value} machine={machine.value} />
      <Table
        caption="States and events"
        rows={statesOf(svg)}
        idOf={(state) => state}
        empty={<p>It has no states.</p>}
        columns={[
          { title: 'State', cell: (state) => <code>{state}</code> },
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
