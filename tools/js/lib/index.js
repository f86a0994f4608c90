// The package for any system; node.js is the one for Node.
export { open, Store } from "./store.js";
export { Session } from "./session.js";
export { Follower } from "./follower.js";
export * from "./errors.js";
