// What happened, in words: the latest first.
import type { WatchedFrame } from '../../../api/console/watching.ts';
import { Table } from '../../controls/table.tsx';
import { failoverText, reasonText } from '../../data/reasons.ts';
import { wordsOf } from './actors.tsx';
import { wordsOfMark } from './lanes.ts';

export function Happened({ frames }: { frames: readonly WatchedFrame[] }) {
  const told = frames.filter(({ kind }) => kind !== 'audio' && kind !== 'actors');
  return (
    <Table
      caption="What happened"
      rows={told.toReversed()}
      idOf={({ sequence, kind }) => `${sequence} ${kind}`}
      empty={<p>Nothing yet.</p>}
      columns={[
        { title: 'At', cell: ({ at }) => <code class="small">{at.slice(11, 23)}</code> },
        { title: 'What', cell: whatOf },
        { title: 'Details', cell: detailsOf },
      ]}
    />
  );
}

function whatOf(frame: WatchedFrame) {
  if (frame.kind === 'mark') return <strong>{wordsOfMark(frame.mark)}</strong>;
  if (frame.kind === 'step') return <code>{frame.actor}</code>;
  return frame.kind === 'actor' ? <code>{frame.actor.id}</code> : frame.kind;
}

/** Reasons in words. */
const textOf = ({ mark, text }: Extract<WatchedFrame, { kind: 'mark' }>): string =>
  mark === 'leg_lost' ? reasonText(text) : mark === 'failover' ? failoverText(text) : text;

function detailsOf(frame: WatchedFrame): string {
  switch (frame.kind) {
    case 'mark':
      return [frame.model, textOf(frame)].filter((part) => part !== undefined && part !== '').join(': ');
    case 'step': {
      const passed = frame.through.map((value) => `${wordsOf(value)} → `).join('');
      return `${frame.event === '' ? '' : `${frame.event} → `}${passed}${wordsOf(frame.value)}`;
    }
    case 'actor':
      return `begins: ${[frame.actor.about, wordsOf(frame.actor.value)].filter(Boolean).join(', ')}`;
    case 'gone':
      return frame.actor;
    case 'dropped':
      return `${frame.count} frames were left out`;
    case 'ended':
      return reasonText(frame.reason);
    default:
      return '';
  }
}
