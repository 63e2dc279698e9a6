import { configDefaults, defineConfig } from 'vitest/config';

/** The slow tier: what `npm test` leaves to `npm run test:slow`. */
const SLOW = ['test/attack/**/*.test.ts'];

export default defineConfig({
  test: {
    include: process.env.SLOW === 'true' ? SLOW : ['test/**/*.test.ts'],
    exclude: [...configDefaults.exclude, ...(process.env.SLOW === 'true' ? [] : SLOW)],
    // uWebSockets.js aborts the process when a worker thread ends with an open listen socket; forks are safe.
    pool: 'forks',
    maxWorkers: 2,
    globalSetup: ['test/global-setup.ts'],
    setupFiles: ['test/setup/documented.ts'],
    testTimeout: 30_000,
    hookTimeout: 30_000,
  },
});
