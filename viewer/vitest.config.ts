// The unit tests: a limit is there for what hangs, not for a machine that has much to do.
import { mergeConfig } from "vite";
import { defineConfig } from "vitest/config";
import page from "./vite.config";

// Test files share a process and the modules loaded in it: half the processor time of a process for each. So a test
// that replaces a global puts it back.
const test = { isolate: false, testTimeout: 120_000, hookTimeout: 120_000 };

export default mergeConfig(page, defineConfig({ test }));
