// Every page of the console: its path, its place in the menu, and what draws it.
import type { ComponentType } from 'preact';
import type { ConsolePath } from '../api/console/pages.ts';
import { Keys } from './pages/keys/keys.tsx';
import { Overview } from './pages/overview/overview.tsx';

export interface PageEntry {
  /** With `:name` for a segment that the page is given as `members.name`. */
  path: ConsolePath;
  title: string;
  page: ComponentType<{ members: Record<string, string> }>;
}

/** The menu. */
export const GROUPS: readonly { title: string; pages: readonly PageEntry[] }[] = [
  {
    title: 'Operate',
    pages: [{ path: '/console', title: 'Overview', page: Overview }],
  },
  {
    title: 'Build',
    pages: [{ path: '/console/keys', title: 'Keys', page: Keys }],
  },
];

/** Pages that the menu does not name. */
const FURTHER: readonly PageEntry[] = [];

export const PAGES: readonly PageEntry[] = [...GROUPS.flatMap(({ pages }) => pages), ...FURTHER];
