// The turns of a session that have a final: when, by which model, and how late. The words went to the client alone: none are kept.
import type { WatchedFrame } from '../../../api/console/watching.ts';
import { Table } from '../../controls/table.tsx';
import { shortSeconds } from '../../data/format.ts';

type Mark = Extract<WatchedFrame, { kind: 'mark' }>;

export function Turns({ frames }: { frames: readonly WatchedFrame[] }) {
  const turns = frames.filter((frame): frame is Mark => frame.kind === 'mark' && frame.mark === 'turn_final');
  if (turns.length === 0) return null;
  return (
    <section class="stack close">
      <div class="row apart">
        <h3>Turns</h3>
        <span class="quiet small">Without their words: transcripts go to the client and are not stored.</span>
      </div>
      <div class="log">
        <Table
          caption="Turns"
          rows={turns.map((turn, at) => ({ ...turn, number: at + 1 })).toReversed()}
          idOf={({ sequence }) => String(sequence)}
          empty={null}
          columns={[
            { title: 'Turn', cell: ({ number }) => `Turn ${number}` },
            { title: 'From – to', cell: ({ start, end }) => spanOf(start, end) },
            { title: 'Model', cell: ({ model = '' }) => <span>{model}</span> },
            { title: 'Final after', isNumber: true, cell: ({ final_ms: ms }) => delayOf(ms) },
            { title: 'In the gateway', isNumber: true, cell: ({ gateway_ms: ms }) => delayOf(ms) },
          ]}
        />
      </div>
    </section>
  );
}

const delayOf = (ms: number | undefined): string => (ms === undefined ? '–' : shortSeconds(ms / 1000));

const spanOf = (start: number | undefined, end: number | undefined): string =>
  start === undefined || end === undefined ? '–' : `${start.toFixed(1)} – ${end.toFixed(1)} s`;
