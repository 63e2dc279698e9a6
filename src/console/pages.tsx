// Every page of the console: its path, its place in the menu, and what draws it.
import type { ComponentType } from 'preact';
import type { MemberRole } from '../api/console/console.ts';
import type { ConsolePath } from '../api/console/pages.ts';
import { Audit } from './pages/audit/audit.tsx';
import { Gateway } from './pages/gateway/gateway.tsx';
import { Keys } from './pages/keys/keys.tsx';
import { Machines } from './pages/machines/machines.tsx';
import { Members } from './pages/members/members.tsx';
import { Model } from './pages/models/model.tsx';
import { Models } from './pages/models/models.tsx';
import { Overview } from './pages/overview/overview.tsx';
import { Playground } from './pages/playground/playground.tsx';
import { ProviderKeys } from './pages/provider-keys/provider-keys.tsx';
import { Session } from './pages/sessions/session.tsx';
import { Sessions } from './pages/sessions/sessions.tsx';
import { Settings } from './pages/settings/settings.tsx';
import { Usage } from './pages/usage/usage.tsx';

export interface PageEntry {
  /** With `:name` for a segment that the page is given as `members.name`. */
  path: ConsolePath;
  title: string;
  /** The least role that has any use of it; any when absent. */
  least?: MemberRole;
  /** It is of use to whoever runs the gateway only. */
  isForOperator?: true;
  page: ComponentType<{ members: Record<string, string> }>;
}

/** The menu. */
export const GROUPS: readonly { title: string; pages: readonly PageEntry[] }[] = [
  {
    title: 'Operate',
    pages: [
      { path: '/', title: 'Overview', page: Overview },
      { path: '/sessions', title: 'Sessions', page: Sessions },
      { path: '/machines', title: 'Machines', page: Machines },
      { path: '/usage', title: 'Usage and bills', page: Usage },
      { path: '/gateway', title: 'Gateway', least: 'admin', isForOperator: true, page: Gateway },
    ],
  },
  {
    title: 'Build',
    pages: [
      { path: '/playground', title: 'Playground', least: 'developer', page: Playground },
      { path: '/models', title: 'Models', page: Models },
      { path: '/keys', title: 'Keys', least: 'developer', page: Keys },
      { path: '/provider-keys', title: 'Provider keys', least: 'developer', page: ProviderKeys },
    ],
  },
  {
    title: 'Organisation',
    pages: [
      { path: '/members', title: 'Members', page: Members },
      { path: '/audit', title: 'Audit', least: 'admin', page: Audit },
      { path: '/settings', title: 'Settings', page: Settings },
    ],
  },
];

/** Pages that the menu does not name. */
const FURTHER: readonly PageEntry[] = [
  { path: '/models/:provider/:model', title: 'Model', page: Model },
  { path: '/sessions/:id', title: 'Session', page: Session },
];

export const PAGES: readonly PageEntry[] = [...GROUPS.flatMap(({ pages }) => pages), ...FURTHER];
