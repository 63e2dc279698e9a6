// What people must notice: messages, failures, and badges of states.
import type { ComponentChildren } from 'preact';

export type Tone = 'good' | 'warn' | 'bad' | 'busy' | 'quiet';

/** `bad` and `warn` interrupt a screen reader. */
export function Notice({ tone, children }: { tone: Tone; children: ComponentChildren }) {
  return (
    <div class={`notice ${tone}`} role={tone === 'bad' || tone === 'warn' ? 'alert' : 'status'}>
      {children}
    </div>
  );
}

/** The message of an error; nothing without one. */
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

/** A sentence of the gateway, in which `code` stands between backticks. */
export function Prose({ text }: { text: string }) {
  return (
    <>{text.split('`').map((piece, at) => (at % 2 === 1 ? <code key={`${at} ${piece}`}>{piece}</code> : piece))}</>
  );
}
