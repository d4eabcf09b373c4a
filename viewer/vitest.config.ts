// The unit tests: a limit is there for what hangs, not for a machine that has much to do.
import { mergeConfig } from "vite";
import { defineConfig } from "vitest/config";
import page from "./vite.config";

export default mergeConfig(page, defineConfig({ test: { testTimeout: 120_000, hookTimeout: 120_000 } }));
