import type { Follower, News, OpenOptions, Session, Store } from "./index.js";
export {
    BusyError,
    CantOpenError,
    ConstraintError,
    CorruptError,
    ExistsError,
    FullError,
    InternalError,
    InterruptedError,
    InvalidError,
    IoError,
    JsonError,
    LeasedError,
    LimitError,
    MisuseError,
    NotAStoreError,
    NotFoundError,
    OutcomeUnknownError,
    OutOfMemoryError,
    ReadOnlyError,
    SesliteError,
    StaleError,
    StateRangeError,
    StateTypeError,
    TooNewError,
    UnsupportedError,
    WrongKeyError,
} from "./index.js";

/** What a result becomes on its way from the worker: a walk is an array. */
type Sent<R> = R extends Session
    ? RemoteSession
    : R extends Follower
      ? RemoteFollower
      : R extends Promise<infer Value>
        ? Value
        : R extends Generator<infer Item>
          ? Item[]
          : R;

type Remoted<T, Names extends keyof T> = {
    [Name in Names]: T[Name] extends (...values: infer Values) => infer R
        ? (...values: Values) => Promise<Sent<R>>
        : never;
};

export interface RemoteSession extends Remoted<
    Session,
    | "facts"
    | "event"
    | "events"
    | "stateJson"
    | "stateGet"
    | "stateAsOf"
    | "json"
    | "refresh"
    | "append"
    | "appendBatch"
    | "setTitle"
    | "setLabels"
    | "setArchived"
    | "rewind"
    | "redo"
    | "cut"
    | "pop"
    | "prune"
    | "fork"
> {
    close(): Promise<void>;
}

export interface RemoteFollower extends Remoted<Follower, "next" | "place">, AsyncIterable<News> {
    [Symbol.asyncIterator](): AsyncIterableIterator<News>;
    return(): Promise<IteratorResult<News, undefined>>;
    close(): Promise<void>;
}

export interface RemoteStore extends Remoted<
    Store,
    | "info"
    | "create"
    | "getOrCreate"
    | "get"
    | "append"
    | "events"
    | "list"
    | "listAll"
    | "count"
    | "apps"
    | "users"
    | "sharedStateJson"
    | "changeSharedState"
    | "search"
    | "index"
    | "usage"
    | "tally"
    | "follow"
    | "saveArtifact"
    | "readArtifact"
    | "artifacts"
    | "artifactVersions"
    | "inlineArtifacts"
    | "deleteArtifact"
    | "exportText"
    | "import"
    | "redact"
    | "find"
    | "delete"
    | "deleteUser"
    | "family"
    | "check"
    | "maintain"
> {
    /** Closes the store and ends its worker. Then another page can open it. */
    close(): Promise<void>;
}

/**
 * Opens the store in a file of the browser. `worker` runs seslite/worker; the default is one that is started
 * for it.
 */
export function open(
    path: string,
    options?: Omit<OpenOptions, "host"> & { worker?: Worker },
): Promise<RemoteStore>;
