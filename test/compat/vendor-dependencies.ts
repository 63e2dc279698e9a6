// What a client of another vendor's protocol is served with, where a test keeps none of its sessions.
import { KeptSessions } from '../../src/compat/jobs/kept-sessions.ts';
import type { VendorLiveDependencies } from '../../src/compat/live.ts';
import type { ListenDependencies } from '../../src/live/socket/listen-dependencies.ts';

export const vendorDependencies = (dependencies: ListenDependencies): VendorLiveDependencies =>
  Object.assign(dependencies, {
    keptSessions: new KeptSessions({
      clock: dependencies.clock,
      wallNow: dependencies.wallNow,
      onForgotten: () => {},
    }),
  });
