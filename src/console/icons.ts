// The icons of the menu.

import usage from 'heroicons/24/outline/chart-bar.svg?raw';
import audit from 'heroicons/24/outline/clipboard-document-list.svg?raw';
import settings from 'heroicons/24/outline/cog-6-tooth.svg?raw';
import models from 'heroicons/24/outline/cube.svg?raw';
import keys from 'heroicons/24/outline/key.svg?raw';
import providerKeys from 'heroicons/24/outline/link.svg?raw';
import playground from 'heroicons/24/outline/microphone.svg?raw';
import gateway from 'heroicons/24/outline/server-stack.svg?raw';
import machines from 'heroicons/24/outline/share.svg?raw';
import sessions from 'heroicons/24/outline/signal.svg?raw';
import overview from 'heroicons/24/outline/squares-2x2.svg?raw';
import members from 'heroicons/24/outline/users.svg?raw';

/** By the path of the page. */
export const ICONS: Readonly<Record<string, string>> = {
  '/': overview,
  '/audit': audit,
  '/gateway': gateway,
  '/keys': keys,
  '/machines': machines,
  '/members': members,
  '/models': models,
  '/playground': playground,
  '/provider-keys': providerKeys,
  '/sessions': sessions,
  '/settings': settings,
  '/usage': usage,
};
