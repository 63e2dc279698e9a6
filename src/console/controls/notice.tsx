import type { ComponentChildren } from 'preact';
import { Prose } from './prose.tsx';

export type Tone = 'good' | 'warn' | 'bad' | 'busy' | 'quiet';

/** What the reader must know now; `bad` and `warn` interrupt a screen reader. */
export function Notice({ tone, children }: { tone: Tone; children: ComponentChildren }) {
  return (
    <div class={`notice ${tone}`} role={tone === 'bad' || tone === 'warn' ? 'alert' : 'status'}>
      {children}
    </div>
  );
}

/** What went wrong, where something did. */
export function Failure({ of }: { of: Error | undefined }) {
  return of === undefined ? null : (
    <Notice tone="bad">
      <p>
        <Prose text={of.message} />
      </p>
    </Notice>
  );
}

export function Badge({ tone, children }: { tone: Tone; children: ComponentChildren }) {
  return <span class={`badge ${tone}`}>{children}</span>;
}
