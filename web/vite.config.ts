// Builds the page into the folder that the server embeds. Names carry a hash of the content, so the
// server may let browsers keep assets for ever; only index.html is asked for each time.
import { defineConfig } from 'vite';

export default defineConfig({
  base: '/',
  build: {
    outDir: '../crates/server/web-dist',
    emptyOutDir: true,
    target: 'es2022',
    // The policy forbids inline and data: scripts, and small files are cheap over one connection.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    rollupOptions: {
      output: {
        entryFileNames: 'assets/[name]-[hash].js',
        chunkFileNames: 'assets/[name]-[hash].js',
        assetFileNames: 'assets/[name]-[hash][extname]',
      },
    },
  },
  server: {
    host: '127.0.0.1',
    proxy: {
      '/api': 'http://127.0.0.1:7400',
      '/metrics': 'http://127.0.0.1:7400',
    },
  },
});
