// One HTML file with everything in it: it must open from disk, without a network.
import { defineConfig } from "vite";
import { viteSingleFile } from "vite-plugin-singlefile";

export default defineConfig({
    base: "./",
    esbuild: { jsx: "automatic", jsxImportSource: "preact" },
    plugins: [viteSingleFile({ removeViteModuleLoader: true })],
    build: { target: "es2022", assetsInlineLimit: 100_000_000, modulePreload: false, reportCompressedSize: false },
});
