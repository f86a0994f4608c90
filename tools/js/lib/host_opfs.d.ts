import type { Host } from "./index.js";

/** Files in the browser's own file system, for a dedicated worker. Paths are relative to its root. */
export function opfsHost(): Host;
