import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import type { Answer } from '../data/answer.ts';
import { Failure } from './notice.tsx';

interface PageProps {
  title: string;
  /** One sentence on what the page is for. */
  about?: ComponentChildren;
  /** Buttons beside the title. */
  actions?: ComponentChildren;
  children: ComponentChildren;
}

/** A page below the menu. Its title takes the focus, so that a screen reader says where it is. */
export function Page({ title, about, actions, children }: PageProps) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    document.title = `${title} · Voxgate`;
    heading.current?.focus();
  }, [title]);
  return (
    <main class="page" id="content">
      <header>
        <div>
          <h1 ref={heading} tabIndex={-1}>
            {title}
          </h1>
          {about === undefined ? null : <p>{about}</p>}
        </div>
        {actions === undefined ? null : <div class="row">{actions}</div>}
      </header>
      {children}
    </main>
  );
}

/** What the gateway has answered, or that it has not yet, or why it does not. */
export function Shown<Value>({
  answer,
  children,
}: {
  answer: Answer<Value>;
  children: (value: Value) => ComponentChildren;
}) {
  return (
    <>
      <Failure of={answer.refused} />
      {answer.value === undefined
        ? answer.refused === undefined && <p class="quiet">Loading…</p>
        : children(answer.value)}
    </>
  );
}
