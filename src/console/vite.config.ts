// How the console becomes the files that a gateway serves: `bin/build.js` runs it. Everything comes from the gateway itself.
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vite';

const client = new URL('../../clients/typescript/src/', import.meta.url);

export default defineConfig({
  root: import.meta.dirname,
  base: '/console/',
  resolve: { alias: { '@voxgate/client': fileURLToPath(new URL('index.ts', client)) } },
  build: {
    target: 'es2022',
    // A strict policy takes no `data:` scripts and styles.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
  },
  clearScreen: false,
  logLevel: 'warn',
});
