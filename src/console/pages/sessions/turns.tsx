// The turns of a session that have a final: when, by which model, and how late. Their text is shown only while the session is live,
// and only where the organisation shows transcripts.
import type { WatchedFrame } from '../../../api/console/watching.ts';
import { Table } from '../../controls/table.tsx';
import { shortSeconds } from '../../data/format.ts';
import { person } from '../../data/person.ts';

type Mark = Extract<WatchedFrame, { kind: 'mark' }>;
type Row = Mark & { number: number };

export function Turns({ frames }: { frames: readonly WatchedFrame[] }) {
  const turns = frames.filter((frame): frame is Mark => frame.kind === 'mark' && frame.mark === 'turn_final');
  if (turns.length === 0) return null;
  const hasText = turns.some(({ transcript }) => transcript !== undefined);
  return (
    <section class="stack close">
      <div class="row apart">
        <h3>Turns</h3>
        <span class="quiet small">{noteOn(hasText)}</span>
      </div>
      <div class="log">
        <Table<Row>
          caption="Turns"
          rows={turns.map((turn, at) => ({ ...turn, number: at + 1 })).toReversed()}
          idOf={({ sequence }) => String(sequence)}
          empty={null}
          columns={[
            { title: 'Turn', cell: ({ number }) => `Turn ${number}` },
            { title: 'From – to', cell: ({ start, end }) => spanOf(start, end) },
            ...(hasText ? [{ title: 'Transcript', cell: textOf }] : []),
            { title: 'Model', cell: ({ model = '' }) => <span>{model}</span> },
            { title: 'Final after', isNumber: true, cell: ({ final_ms: ms }) => delayOf(ms) },
            { title: 'In the gateway', isNumber: true, cell: ({ gateway_ms: ms }) => delayOf(ms) },
          ]}
        />
      </div>
    </section>
  );
}

const textOf = ({ transcript }: Mark) =>
  transcript === undefined ? <span class="quiet">not kept</span> : transcript === '' ? '–' : <span>{transcript}</span>;

function noteOn(hasText: boolean): string {
  if (hasText) return 'Transcripts are shown while the session is live, and are not stored.';
  if (person.value?.organisation.show_transcripts) return 'Transcripts are shown only while a session is live.';
  return 'Your organisation does not show transcripts here. An owner can switch them on in Settings.';
}

const delayOf = (ms: number | undefined): string => (ms === undefined ? '–' : shortSeconds(ms / 1000));

const spanOf = (start: number | undefined, end: number | undefined): string =>
  start === undefined || end === undefined ? '–' : `${start.toFixed(1)} – ${end.toFixed(1)} s`;
