// Every page of the console: its path, its entry in the menu, and its component.

import webhooks from 'heroicons/24/outline/bell-alert.svg?raw';
import usage from 'heroicons/24/outline/chart-bar.svg?raw';
import audit from 'heroicons/24/outline/clipboard-document-list.svg?raw';
import settings from 'heroicons/24/outline/cog-6-tooth.svg?raw';
import models from 'heroicons/24/outline/cube.svg?raw';
import keys from 'heroicons/24/outline/key.svg?raw';
import providerKeys from 'heroicons/24/outline/link.svg?raw';
import playground from 'heroicons/24/outline/microphone.svg?raw';
import jobs from 'heroicons/24/outline/queue-list.svg?raw';
import gateway from 'heroicons/24/outline/server-stack.svg?raw';
import machines from 'heroicons/24/outline/share.svg?raw';
import sessions from 'heroicons/24/outline/signal.svg?raw';
import overview from 'heroicons/24/outline/squares-2x2.svg?raw';
import members from 'heroicons/24/outline/users.svg?raw';
import type { ComponentType } from 'preact';
import type { MemberRole } from '../api/console/console.ts';
import type { ConsolePath } from '../api/console/pages.ts';
import { Audit } from './pages/audit.tsx';
import { Gateway } from './pages/gateway.tsx';
import { Jobs } from './pages/jobs.tsx';
import { Keys } from './pages/keys.tsx';
import { Machines } from './pages/machines.tsx';
import { Members } from './pages/members.tsx';
import { Model } from './pages/model.tsx';
import { Models } from './pages/models.tsx';
import { Overview } from './pages/overview.tsx';
import { Playground } from './pages/playground/playground.tsx';
import { ProviderKeys } from './pages/provider-keys.tsx';
import { Session } from './pages/sessions/session.tsx';
import { Sessions } from './pages/sessions/sessions.tsx';
import { Settings } from './pages/settings.tsx';
import { Usage } from './pages/usage.tsx';
import { Webhooks } from './pages/webhooks.tsx';

interface PageEntry {
  /** With `:name` for a segment that the page receives as `params.name`. */
  path: ConsolePath;
  page: ComponentType<{ params: Record<string, string> }>;
}

interface MenuEntry extends PageEntry {
  title: string;
  icon: string;
  /** The least role that can use it; any when absent. */
  least?: MemberRole;
  /** Only the operator of the gateway can use it. */
  isForOperator?: true;
}

/** The menu. */
export const GROUPS: readonly { title: string; pages: readonly MenuEntry[] }[] = [
  {
    title: 'Operate',
    pages: [
      { path: '/', title: 'Overview', icon: overview, page: Overview },
      { path: '/sessions', title: 'Sessions', icon: sessions, page: Sessions },
      { path: '/jobs', title: 'Jobs', icon: jobs, page: Jobs },
      { path: '/machines', title: 'Machines', icon: machines, page: Machines },
      { path: '/usage', title: 'Usage and bills', icon: usage, page: Usage },
      { path: '/gateway', title: 'Gateway', icon: gateway, least: 'admin', isForOperator: true, page: Gateway },
    ],
  },
  {
    title: 'Build',
    pages: [
      { path: '/playground', title: 'Playground', icon: playground, least: 'developer', page: Playground },
      { path: '/models', title: 'Models', icon: models, page: Models },
      { path: '/keys', title: 'Keys', icon: keys, least: 'developer', page: Keys },
      { path: '/provider-keys', title: 'Provider keys', icon: providerKeys, least: 'developer', page: ProviderKeys },
      { path: '/webhooks', title: 'Webhooks', icon: webhooks, least: 'developer', page: Webhooks },
    ],
  },
  {
    title: 'Organisation',
    pages: [
      { path: '/members', title: 'Members', icon: members, page: Members },
      { path: '/audit', title: 'Audit', icon: audit, least: 'admin', page: Audit },
      { path: '/settings', title: 'Settings', icon: settings, page: Settings },
    ],
  },
];

export const PAGES: readonly PageEntry[] = [
  ...GROUPS.flatMap(({ pages }) => pages),
  { path: '/models/:provider/:model', page: Model },
  { path: '/sessions/:id', page: Session },
];
