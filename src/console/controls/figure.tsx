import type { ComponentChildren } from 'preact';

interface FigureProps {
  title: string;
  /** Undefined until it is known. */
  value: ComponentChildren;
  note?: string | undefined;
}

/** One number that matters, in a list of class `figures`. */
export function Figure({ title, value, note }: FigureProps) {
  return (
    <div class="figure">
      <dt>{title}</dt>
      <dd>{value ?? '…'}</dd>
      {note === undefined ? null : <dd class="note">{note}</dd>}
    </div>
  );
}
