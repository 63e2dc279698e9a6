// A page below the menu, what it shows of an answer, and links from page to page.
import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import type { Answer } from '../data/api.ts';
import { go } from '../data/location.ts';
import { Failure } from './notice.tsx';

interface PageProps {
  title: string;
  /** One sentence on what the page is for. */
  about?: ComponentChildren;
  /** Buttons next to the title. */
  actions?: ComponentChildren;
  children: ComponentChildren;
}

/** Its title takes the focus, so that a screen reader says where it is. */
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

interface LoadedProps<Value> {
  answer: Answer<Value>;
  children(value: Value): ComponentChildren;
}

/** An answer of the gateway, that it is still loading, or why it failed. */
export function Loaded<Value>({ answer: { value, error }, children }: LoadedProps<Value>) {
  return (
    <>
      <Failure of={error} />
      {value === undefined ? error === undefined && <p class="quiet">Loading…</p> : children(value)}
    </>
  );
}

/** Of a region that scrolls and may hold nothing that takes the focus: it can be reached by keyboard anyway. */
export const SCROLLING = { tabIndex: 0 } as const;

interface LinkProps {
  to: string;
  class?: string;
  children: ComponentChildren;
  'aria-current'?: 'page' | undefined;
}

/** A link to another page of the console; with a modifier key the browser opens it like any link. */
export function Link({ to, children, ...rest }: LinkProps) {
  return (
    <a
      {...rest}
      href={to}
      onClick={(event) => {
        if (event.metaKey || event.ctrlKey || event.shiftKey || event.button !== 0) return;
        event.preventDefault();
        go(to);
      }}
    >
      {children}
    </a>
  );
}
