import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    // uWebSockets.js aborts the process when a worker thread ends with an open listen socket; forks are safe.
    pool: 'forks',
    maxWorkers: 2,
    globalSetup: ['test/global-setup.ts'],
    setupFiles: ['test/setup/documented.ts'],
    testTimeout: 30_000,
    hookTimeout: 30_000,
  },
});
