// The package for Node: as index.js, with files of Node as the host.
import { open as openWith } from "./store.js";
import { nodeHost } from "./host_node.js";

export * from "./index.js";
export { nodeHost } from "./host_node.js";

export function open(path, options) {
    return openWith(path, { ...options, host: options?.host === undefined ? nodeHost() : options.host });
}
