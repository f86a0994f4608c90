import type { Host } from "./index.js";
export * from "./index.js";

/** Files of Node, which `open` uses if no host is given. */
export function nodeHost(): Host;
