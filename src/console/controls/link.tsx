import type { ComponentChildren } from 'preact';
import { go } from '../data/location.ts';

interface LinkProps {
  to: string;
  class?: string;
  children: ComponentChildren;
  'aria-current'?: 'page' | undefined;
}

/** A link to another page of the console; with a modifier key the browser opens it as it opens any link. */
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
