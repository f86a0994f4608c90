// For a page: stores in the browser's files, in a worker. The calls are those of Store, Session and Follower,
// and return promises.
import { MisuseError, makeError } from "./errors.js";

export * from "./errors.js";

const CALL = Symbol("call");
const END = Symbol("end");

const forgotten = new FinalizationRegistry(({ link, object }) => {
    link.call(object, "close", []).catch(() => {}); // the worker was ended, or it was closed there
});

/** The messages to a worker and back. */
class Link {
    #worker;
    #waiting = new Map();
    #last = 0;
    #failure;

    constructor(worker) {
        this.#worker = worker;
        worker.addEventListener("message", ({ data }) => this.#receive(data));
        worker.addEventListener("error", (event) => this.end(`the worker has failed: ${event.message}`));
    }

    call(object, method, values) {
        if (this.#failure) return Promise.reject(new MisuseError(this.#failure));
        return new Promise((resolve, reject) => {
            const id = ++this.#last;
            this.#waiting.set(id, { resolve, reject });
            try {
                this.#worker.postMessage({ id, object, method, values });
            } catch (error) {
                // a value that cannot be sent
                this.#waiting.delete(id);
                reject(new MisuseError(`${method}: ${error.message}`, { cause: error }));
            }
        });
    }

    #receive({ id, kind, object, value, error }) {
        const waiting = this.#waiting.get(id);
        this.#waiting.delete(id);
        if (error) waiting.reject(makeError(error.code, error.message, error));
        else waiting.resolve(kind ? new REMOTES[kind](this, object) : value);
    }

    end(reason) {
        this.#failure = reason;
        this.#worker.terminate();
        for (const { reject } of this.#waiting.values()) reject(new MisuseError(reason));
        this.#waiting.clear();
    }
}

/** An object in the worker. */
class Remote {
    #link;
    #object;
    #closed;

    constructor(link, object) {
        this.#link = link;
        this.#object = object;
        forgotten.register(this, { link, object }, this);
    }

    [CALL](method, values) {
        return this.#closed
            ? Promise.reject(new MisuseError("it was closed"))
            : this.#link.call(this.#object, method, values);
    }

    close() {
        if (!this.#closed) {
            forgotten.unregister(this);
            this.#closed = this.#link.call(this.#object, "close", []);
        }
        return this.#closed;
    }

    /** Ends the worker, which a page would keep otherwise. */
    [END](reason) {
        this.#link.end(reason);
    }
}

function forward(methods) {
    class Forwarding extends Remote {}
    for (const method of methods) {
        Object.defineProperty(Forwarding.prototype, method, {
            value(...values) {
                return this[CALL](method, values);
            },
        });
    }
    return Forwarding;
}

export class RemoteSession extends forward([
    "facts",
    "event",
    "events",
    "stateJson",
    "stateGet",
    "stateAsOf",
    "json",
    "refresh",
    "append",
    "appendBatch",
    "setTitle",
    "setLabels",
    "setArchived",
    "rewind",
    "redo",
    "cut",
    "pop",
    "prune",
    "fork",
]) {}

export class RemoteFollower extends forward(["next", "place"]) {
    [Symbol.asyncIterator]() {
        return this;
    }

    async return() {
        await this.close();
        return { value: undefined, done: true };
    }
}

export class RemoteStore extends forward([
    "info",
    "create",
    "getOrCreate",
    "get",
    "append",
    "events",
    "list",
    "listAll",
    "count",
    "apps",
    "users",
    "sharedStateJson",
    "changeSharedState",
    "search",
    "index",
    "usage",
    "tally",
    "follow",
    "saveArtifact",
    "readArtifact",
    "artifacts",
    "artifactVersions",
    "inlineArtifacts",
    "deleteArtifact",
    "exportText",
    "import",
    "redact",
    "find",
    "delete",
    "deleteUser",
    "family",
    "check",
    "maintain",
]) {
    async close() {
        await super.close();
        this[END]("the store was closed");
    }
}

const REMOTES = { store: RemoteStore, session: RemoteSession, follower: RemoteFollower };

/** Opens the store in a file of the browser, in a worker of its own. */
export async function open(path, options = {}) {
    const { worker, ...rest } = options;
    const link = new Link(worker ?? new Worker(new URL("./worker.js", import.meta.url), { type: "module" }));
    try {
        return await link.call(0, "open", [path, rest]);
    } catch (error) {
        link.end("the store was not opened");
        throw error;
    }
}
