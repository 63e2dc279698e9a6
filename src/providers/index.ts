// The registry: one line per provider.
import { local } from './local/index.ts';
import { loopback } from './loopback/index.ts';
import type { Provider } from './provider.ts';

export const providers: readonly Provider[] = [local, loopback];
