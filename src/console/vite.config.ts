// How the console becomes the files that a gateway serves: `bin/build.js` runs it. Everything comes from the gateway itself.
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vite';

const client = (path: string) => fileURLToPath(new URL(`../../clients/typescript/src/${path}`, import.meta.url));

export default defineConfig({
  root: import.meta.dirname,
  base: '/console/',
  resolve: {
    alias: [
      { find: /^@voxgate\/client$/, replacement: client('index.ts') },
      // In the source its name ends with a query, which stays.
      { find: /^@voxgate\/client\/microphone-worklet\.js/, replacement: client('microphone/microphone-worklet.ts') },
    ],
  },
  build: {
    target: 'es2022',
    // A strict policy takes no `data:` scripts and styles.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    // The console, and the frame that a gateway puts its documents into.
    rollupOptions: { input: ['index.html', 'docs.html'].map((name) => `${import.meta.dirname}/${name}`) },
  },
  clearScreen: false,
  logLevel: 'warn',
});
