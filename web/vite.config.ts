/// <reference types="vitest/config" />
import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";

export default defineConfig({
  plugins: [react()],
  // Addresses of assets are relative: the server writes the path before them, whatever a proxy has put there.
  base: "./",
  build: {
    outDir: "../src/codefathom/server/static",
    emptyOutDir: true,
    // An image as a data: address is a request less, and the policy of the page allows it.
    assetsInlineLimit: 2_048,
    manifest: true,
    chunkSizeWarningLimit: 1_500,
    rolldownOptions: {
      output: {
        // What every page needs is one file: cut by who else needs a part of it, it would be larger.
        codeSplitting: { groups: [{ name: "common", test: /node_modules\/antd\/es\/button\// }] },
      },
    },
  },
  server: {
    proxy: { "/api": "http://127.0.0.1:8900" },
  },
  test: { environment: "node", include: ["src/**/*.test.{ts,tsx}"] },
});
