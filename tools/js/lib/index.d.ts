/** Times are microseconds since 1970, exact. A number is taken if it is whole. */
export type Micros = bigint;
/** JSON as text, or as UTF-8. The library keeps its bytes. */
export type Json = string | Uint8Array;

export interface Key {
    app: string;
    user: string;
    session: string;
}
/** A key whose session the store makes. */
export type NewKey = Omit<Key, "session"> & { session?: string };

/**
 * Files, as a store uses them. A failure is thrown; its `code` (as of Node) or `name` (as of the DOM) says
 * which it is.
 */
export interface Host {
    /** Takes the file, which no other store may have, and returns its path as the other functions get it. */
    acquire(path: string, options: { readOnly: boolean; mustExist: boolean }): string | Promise<string>;
    /** Gives it back. */
    release(path: string): void | Promise<void>;
    /** Returns a handle, which is 0 or more. */
    open(path: string, options: { write: boolean; create: boolean; exclusive: boolean }): number;
    close(handle: number): void;
    /** Returns how many bytes it has read: fewer than there is room for only at the end of the file. */
    read(handle: number, bytes: Uint8Array, offset: number): number;
    write(handle: number, bytes: Uint8Array, offset: number): void;
    truncate(handle: number, size: number): void;
    /** Returns once the file is on the disk, and with `folder` also its name. */
    sync(handle: number, folder: boolean): void;
    size(handle: number): number;
    delete(path: string, syncFolder: boolean): void;
    /**
     * `device` and `inode` tell files apart. `links` is how many names the file has; 1 if it is not given.
     */
    stat(path: string):
        | {
              size: bigint | number;
              device: bigint | number;
              inode: bigint | number;
              links?: bigint | number;
          }
        | undefined;
}

export interface OpenOptions {
    /** The files. Node has a default; a store in memory needs none. */
    host?: Host;
    /** The WebAssembly, if it does not lie beside the package's files. */
    wasm?: WebAssembly.Module | BufferSource | Promise<WebAssembly.Module | BufferSource>;
    readOnly?: boolean;
    mustExist?: boolean;
    /**
     * Opens a file also if it has other names (hard links), which is CANTOPEN otherwise: programs that use
     * different names lose each other's writes.
     */
    linked?: boolean;
    /** "full": a write survives power loss. */
    synchronous?: "full" | "normal";
    journal?: "auto" | "wal" | "rollback";
    maxEventBytes?: number;
    maxSessionEvents?: number;
}

export interface Range {
    none?: boolean;
    newest?: number;
    since?: Micros | number;
    firstSeq?: number;
    lastSeq?: number;
    /** Only events that no rewind has taken back. */
    live?: boolean;
}

export type Point = "now" | "lastTurn" | { seq: number } | { event: string } | { invocation: string };

/** A value of null removes the label. */
export type Labels = Record<string, string | null>;

export interface CreateOptions {
    title?: string;
    labels?: Record<string, string>;
    expiresUs?: Micros | number;
    createdUs?: Micros | number;
    /** The session of the same app that the new one belongs to, such as that of a sub-agent. */
    childOf?: { user: string; session: string };
}

/** A child belongs to another session. */
export type Kind = "conversation" | "child" | "memory";

export interface AppendOptions {
    /** State changes in addition to the event's. */
    delta?: Json;
    /** The values of shared keys that the caller has seen; STALE if they are others now. */
    expected?: Json;
    title?: string;
    labels?: Labels;
    /** An outdated session catches up instead of STALE. */
    anyway?: boolean;
    /** Only for Store.append: STALE unless the session is at this version. */
    version?: number;
}

export interface Appended {
    status: "stored" | "partial" | "duplicate" | "unchanged";
    seq: number;
    version: number;
    timeUs: Micros;
    updatedUs: Micros;
    /** The id that the store made. */
    madeId: string | undefined;
}

export interface StoredEvent {
    seq: number;
    timeUs: Micros;
    id: string;
    /** "" if the event has none, as `author`. */
    invocationId: string;
    author: string;
    branch: string | undefined;
    /** The bytes that were appended, without `temp:` keys. */
    json: string;
}

export interface SessionFacts {
    app: string;
    user: string;
    id: string;
    version: number;
    lastSeq: number;
    stored: number;
    createdUs: Micros;
    updatedUs: Micros;
    expiresUs: Micros | undefined;
    baseSeq: number;
    title: string | undefined;
    labels: Record<string, string>;
    parent: (Key & { seq: number }) | undefined;
    archivedUs: Micros | undefined;
    kind: Kind;
    childOf: Key | undefined;
}

export interface ListedSession extends SessionFacts {
    /** The merged state, unless `state: false` was given. */
    stateJson?: string;
    /** When it was last written to, by the store's clock. */
    changedUs: Micros;
}

export interface Filter {
    label?: string;
    value?: string;
    idPrefix?: string;
    updatedSince?: Micros | number;
    updatedBefore?: Micros | number;
    /** The last write, by the store's clock. */
    changedSince?: Micros | number;
    changedBefore?: Micros | number;
    withoutLabel?: string;
    /** Only archived sessions, or only the others. */
    archived?: boolean;
    /** Only sessions of these kinds. */
    kinds?: Iterable<Kind>;
    /** Only children of this session. */
    childOf?: { user: string; session: string };
}

/** A session that is related to another. */
export interface Relative {
    /** A sibling was forked from the same session, after the same event. */
    relation: "parent" | "fork" | "sibling" | "childOf" | "child";
    key: Key;
    /** The last event that both have; 0 for children. */
    seq: number;
    createdUs: Micros;
}

export interface ListOptions {
    /** By the update time, in order of creation, or "changed": last written first, by the store's clock. */
    order?: "newest" | "oldest" | "created" | "changed";
    limit?: number;
    token?: string;
    state?: boolean;
    filter?: Filter;
}

export interface SearchOptions {
    any?: boolean;
    phrase?: boolean;
    live?: boolean;
    limit?: number;
    token?: string;
    snippetBytes?: number;
    since?: Micros | number;
    before?: Micros | number;
}

export interface RedactOptions {
    /** Also the values that the events have set, in the events and in the stored state. */
    state?: boolean;
    /**
     * With `state` and `find`, and of all events: also removes state keys, the title and labels in whose
     * names it is found. Without it the receipt counts these.
     */
    names?: boolean;
    /** Also the copies of the events in other sessions of the app. */
    forks?: boolean;
    /** Changes nothing: only counts. */
    count?: boolean;
    /** Nothing of what was replaced remains in the file and its log. */
    secure?: boolean;
    /** STALE unless the session has this version. */
    version?: number | bigint;
    /** In place of a text; "[redacted]" by default. */
    text?: string;
    /** In place of the content of one event: an object with the same function calls and responses. */
    content?: string | Uint8Array;
    /** Only where this text occurs, it is replaced. */
    find?: string;
}

/** A receipt: what a call has erased, and what it knows to be left. Backups and exports are not covered. */
export interface Erased {
    /** Other sessions that were redacted. */
    sessions: number;
    events: number;
    /** Values in stored state. */
    stateKeys: number;
    /** Versions that were deleted. */
    artifacts: number;
    /** Events whose words were taken out of the index. */
    indexEvents: number;
    /** Sessions that have copies; undefined: not known. */
    forksLeft: number | undefined;
    /** Values that the events have set and keep. */
    stateLeft: number;
    /** Versions that the events name and that were not deleted. */
    artifactsLeft: number;
    /** Later compactions, whose summaries may repeat the events. */
    compactionsLeft: number;
    /**
     * Events of which a damaged index or tally that could not be dropped may still have words in the file.
     */
    derivedLeft: number;
    /** With `find`: names of state keys, titles and labels that were removed. */
    names: number;
    /** With `find`: names and ids in which it is found, and that stay. */
    namesLeft: number;
    /** The write-ahead log could not be emptied: call again. */
    more: boolean;
}

/** A place in which a text was found. */
export interface Finding {
    kind:
        /** The id of the session, the user or the app: the last that is there. */
        | "id"
        /** The session from which it was forked, or its user. */
        | "parent"
        | "title"
        /** The name or the value of a label. */
        | "label"
        /** The name of a state key. */
        | "key"
        /** The value of a state key. */
        | "value"
        /** The state that the session was created with. */
        | "initial"
        /** The state before the first event that was not pruned. */
        | "base"
        | "event"
        /** An artifact's name, type, display name or metadata. */
        | "artifact"
        /** The bytes of an artifact. */
        | "bytes"
        | "other";
    app: string;
    /** undefined: it belongs to the app. */
    user: string | undefined;
    /** undefined: it belongs to the app or the user. */
    session: string | undefined;
    /** Of the key, the label or the artifact. */
    name: string | undefined;
    /** Of the event. */
    seq: number | undefined;
    /** Of the artifact. */
    version: number | undefined;
    /** What is around the first piece that was found there; undefined: it is no text. */
    text: string | undefined;
    /** Where in the text the piece begins. */
    textFound: number | undefined;
}

export interface ExportOptions {
    app?: string;
    user?: string;
    session?: string;
    onlySessions?: boolean;
    /** Leaves out what is damaged, and goes on. It needs `leftOut`. */
    skip?: boolean;
    /**
     * Is told of each version of an artifact that the lines leave out, since a later version of seslite has
     * made it (UnsupportedError), and with `skip` of what is damaged (CorruptError).
     */
    leftOut?: (why: SesliteError) => void;
}

export interface UsageOptions {
    by?: ("app" | "user" | "session" | "day" | "model" | "invocation")[];
    /** The events' time is this or later. */
    since?: Micros | number;
    before?: Micros | number;
    /** Rows per page; 100 by default. */
    limit?: number;
    token?: string;
}

/** Model calls that were added up. Texts by which they were not are undefined. A day is one of UTC. */
export interface UsageRow {
    app: string | undefined;
    user: string | undefined;
    session: string | undefined;
    day: string | undefined;
    model: string | undefined;
    invocation: string | undefined;
    calls: number;
    /** The cached tokens included. */
    prompt: number;
    cached: number;
    candidates: number;
    thoughts: number;
    toolUse: number;
    total: number;
    /** Counts that are not integers from 0 to 2^53 - 1, and were taken as absent. */
    odd: number;
    firstUs: Micros;
    lastUs: Micros;
}

export interface Hit {
    user: string;
    session: string;
    id: string;
    author: string;
    seq: number;
    timeUs: Micros;
    snippet: string | undefined;
    /** Where in the snippet the word begins. */
    snippetFound: number | undefined;
}

export interface FollowOptions {
    onlyNew?: boolean;
    afterSeq?: number;
    /** Goes on after this place; see Follower.place. */
    place?: string;
    signal?: AbortSignal;
}

/** An event; or `reset`: events of the session that were given are gone, so read it again. */
export type News =
    | { session: string; event: StoredEvent; reset?: undefined }
    | { session: string | undefined; reset: true; event?: undefined };

export interface ImportOptions {
    app?: string;
    user?: string;
    onConflict?: "refuse" | "replace" | "rename";
    /**
     * A session that exists gets the events that it lacks, and the title, labels and expiry time of the file.
     */
    update?: boolean;
    dryRun?: boolean;
    skip?: boolean;
    replaceKeys?: boolean;
}

export interface ImportReport {
    lines: number;
    made: number;
    equal: number;
    updated: number;
    replaced: number;
    renamed: number;
    refused: number;
    events: number;
    keys: number;
    keysKept: number;
    artifacts: number;
    artifactsKept: number;
    unknown: number;
}

export interface Pruned {
    deleted: number;
    /** There is more to prune: call again. */
    more: boolean;
}

/** What a check has found. */
export interface Problem {
    /**
     * What it concerns: "page", "index", "event", and others of ses_problem_kind in lower case. "newer" is no
     * damage: a later version of seslite has made it, and this one cannot check it.
     */
    kind: string;
    app: string | undefined;
    user: string | undefined;
    session: string | undefined;
    /** The event's number. */
    seq: number | undefined;
    message: string;
}

/** A session's artifacts, or without a session those of the user. */
export type ArtifactKey = NewKey;

export interface SaveArtifactOptions {
    /** "text" for a string, and "bytes" for a Uint8Array, unless it is given. */
    kind?: "bytes" | "text" | "uri";
    mimeType?: string;
    displayName?: string;
    /** A JSON object. */
    metadata?: Json;
}

/** One version of an artifact. */
export interface ArtifactInfo {
    /** With its prefix `user:`, if it is the user's. */
    name: string;
    version: number;
    createdUs: Micros;
    size: number;
    /** "other": one of a later version, which cannot be read. */
    kind: "bytes" | "text" | "uri" | "other";
    mimeType: string | undefined;
    displayName: string | undefined;
    metadata: string | undefined;
    /** SHA-256 of the bytes, in hexadecimal. */
    hash: string;
    /** The address of the version, to which another artifact can refer. */
    uri: string;
}

/**
 * A session: a snapshot, taken when it was created or read. Its own appends move it forward; `refresh` adds
 * what others wrote. Close it to free its memory at once; otherwise that is freed some time after nothing
 * refers to it.
 */
export class Session {
    private constructor();
    readonly app: string;
    readonly user: string;
    readonly id: string;
    readonly version: number;
    readonly lastSeq: number;
    readonly eventCount: number;
    facts(): SessionFacts;
    event(index: number): StoredEvent | undefined;
    events(): StoredEvent[];
    /** The state of all scopes, merged, as one JSON object. */
    stateJson(): string;
    /** One value as JSON; undefined if there is none. */
    stateGet(name: string): string | undefined;
    /** The session's own state as it was at the point. */
    stateAsOf(point: Point): string;
    /** The session as the ADK writes it. */
    json(): string;
    refresh(): void;
    append(event: Json, options?: Omit<AppendOptions, "version">): Appended;
    /** All events in one transaction, or none. */
    appendBatch(events: Iterable<Json>, options?: Omit<AppendOptions, "version" | "delta">): Appended[];
    /** null removes it. */
    setTitle(title: string | null): void;
    setLabels(labels: Labels): void;
    setArchived(archived?: boolean): void;
    /** Takes back what came after the point, by an event. */
    rewind(point: Point, options?: { anyway?: boolean }): Appended;
    redo(options?: { anyway?: boolean }): Appended;
    /** Deletes the events after the point, and returns how many there were. */
    cut(point: Point, options?: { anyway?: boolean }): number;
    /** As `cut`, and returns the events, oldest first. No two callers get the same. */
    pop(point: Point, options?: { anyway?: boolean; secure?: boolean }): StoredEvent[];
    /** Deletes the oldest events; their state stays. */
    prune(options: {
        keep?: number;
        before?: Micros | number;
        lastSeq?: number;
        /** Only those that a compaction covers, or that rewinds have taken back. */
        compacted?: boolean;
        secure?: boolean;
        limit?: number;
    }): Pruned;
    /** The fork expires when the session does, or at `expiresUs`; null: never. */
    fork(
        point: Point,
        options?: { user?: string; session?: string; range?: Range; expiresUs?: Micros | number | null },
    ): Session;
    close(): void;
    [Symbol.dispose](): void;
}

/** The events of a session, or of all of a user, as this store appends them. */
export class Follower implements AsyncIterableIterator<News> {
    private constructor();
    [Symbol.asyncIterator](): this;
    /** Waits for news. It ends once the follower or the store is closed, or the signal is aborted. */
    next(): Promise<IteratorResult<News, undefined>>;
    return(): Promise<IteratorResult<News, undefined>>;
    /** The news that is there; undefined if there is none. */
    poll(): News | undefined;
    /** The place after the last news, for another follower of the same session or user. */
    place(): string;
    close(): void;
    [Symbol.dispose](): void;
}

/** The sessions in one file, or in memory. Every call but `open` and `close` returns its result at once. */
export class Store {
    private constructor();
    readonly path: string;
    info(): {
        journalMode: string;
        sqliteVersion: string;
        schemaVersion: number;
        readOnly: boolean;
        version: string;
    };
    create(key: NewKey, state?: Json, options?: CreateOptions): Session;
    getOrCreate(key: Key, state?: Json, options?: CreateOptions & { range?: Range }): Session;
    get(key: Key, options?: { range?: Range }): Session;
    /** Appends without reading the session. */
    append(key: Key, event: Json, options?: AppendOptions): Appended;
    /** Walks the events one page at a time, however long the log is. */
    events(
        key: Key,
        options?: { backward?: boolean; range?: Range },
    ): Generator<StoredEvent, void, undefined>;
    /** Without a user: the sessions of all users. */
    list(
        app: string,
        user?: string,
        options?: ListOptions,
    ): { sessions: ListedSession[]; token: string | undefined };
    listAll(
        app: string,
        user?: string,
        options?: Omit<ListOptions, "token">,
    ): Generator<ListedSession, void, undefined>;
    count(app: string, user?: string, filter?: Filter): number;
    apps(): Generator<string, void, undefined>;
    users(app: string): Generator<string, void, undefined>;
    /** The keys of an app, or with `user` of a user, without their prefix. */
    sharedStateJson(app: string, user?: string): string;
    changeSharedState(
        app: string,
        user: string | undefined,
        delta: Json,
        options?: { expected?: Json },
    ): void;
    search(
        scope: { app: string; user?: string; session?: string },
        words: string,
        options?: SearchOptions,
    ): { hits: Hit[]; token: string | undefined; indexed: boolean };
    /** Makes the index that makes searches fast, or brings it up to date. */
    index(options?: { rebuild?: boolean; drop?: boolean }): number;
    /** Adds up the tokens of models: in an app, of a user, in a session, or ({}) in the whole store. */
    usage(
        scope: { app?: string; user?: string; session?: string },
        options?: UsageOptions,
    ): { rows: UsageRow[]; sum: UsageRow; token: string | undefined };
    /** Makes the table with which `usage` takes milliseconds, or brings it up to date. */
    tally(options?: { rebuild?: boolean; drop?: boolean }): number;
    follow(key: NewKey, options?: FollowOptions): Follower;
    /** Saves the next version, and returns its number, from 0 on. */
    saveArtifact(
        key: ArtifactKey,
        name: string,
        content: string | Uint8Array,
        options?: SaveArtifactOptions,
    ): number;
    /** The newest version, or the one that is named. A reference is followed. */
    readArtifact(
        key: ArtifactKey,
        name: string,
        options?: { version?: number },
    ): ArtifactInfo & { bytes: Uint8Array };
    /** The newest version of each, by name: those of the session and of its user. */
    artifacts(key: ArtifactKey): Generator<ArtifactInfo, void, undefined>;
    artifactVersions(key: ArtifactKey, name: string): Generator<ArtifactInfo, void, undefined>;
    /**
     * The event with the bytes of artifacts in place of references to them, for programs that do not read
     * artifacts. `bytes`: at most so many of them. undefined: there is nothing to put in.
     */
    inlineArtifacts(key: Key, event: Json, options?: { bytes?: number }): string | undefined;
    /** Deletes all versions, and returns how many there were. */
    deleteArtifact(key: ArtifactKey, name: string, options?: { secure?: boolean }): number;
    /** Gives the store, an app, a user or a session as JSON lines, in pieces of UTF-8. */
    export(write: (bytes: Uint8Array) => void, options?: ExportOptions): void;
    exportText(options?: ExportOptions): string;
    import(lines: string | Uint8Array | Iterable<string | Uint8Array>, options?: ImportOptions): ImportReport;
    /** Replaces the contents of events by their numbers, or of all. 0 is the state at the creation. */
    redact(key: Key, seqs?: (number | bigint)[], options?: RedactOptions): Erased;
    /**
     * Finds a text in an app, of a user, in a session, or ({}) in the whole store: in ids, titles, labels,
     * state and the names of its keys, events and artifacts.
     */
    find(
        scope: { app?: string; user?: string; session?: string },
        text: string,
        options?: { ignoreCase?: boolean },
    ): Generator<Finding, void, undefined>;
    /** Returns whether there was such a session. With `children` also its children are deleted, and theirs. */
    delete(key: Key, options?: { secure?: boolean; children?: boolean }): boolean;
    /** The sessions that are related to one. */
    family(key: Key): Relative[];
    deleteUser(
        app: string,
        user: string,
        options?: { secure?: boolean },
    ): { sessions: number; stateKeys: number };
    /**
     * Returns what is wrong with the store; nothing if it is sound. "log", the default, looks at every row.
     */
    check(options?: { level?: "quick" | "full" | "log"; limit?: number }): Problem[];
    /** Gives free pages back to the file system; true: call again for more. */
    maintain(): boolean;
    /** With some hosts the file is free for others only after the promise. */
    close(): void | Promise<void>;
    [Symbol.dispose](): void;
}

/** Opens the store in a file, or creates it. ":memory:" is one in memory. */
export function open(path: string, options?: OpenOptions): Promise<Store>;

export type CodeName =
    | "NOMEM"
    | "MISUSE"
    | "INVALID"
    | "JSON"
    | "NOTFOUND"
    | "EXISTS"
    | "STALE"
    | "BUSY"
    | "READONLY"
    | "FULL"
    | "IO"
    | "CORRUPT"
    | "NOTASTORE"
    | "TOONEW"
    | "LIMIT"
    | "INTERRUPTED"
    | "TYPE"
    | "RANGE"
    | "CANTOPEN"
    | "INTERNAL"
    | "UNKNOWN"
    | "LEASED"
    | "CONSTRAINT"
    | "KEY"
    | "UNSUPPORTED";

/** A call that failed. Nothing has changed, unless it is an OutcomeUnknownError. */
export class SesliteError extends Error {
    readonly code: CodeName;
    /** StaleError: the version that the session has now. */
    readonly version: number | undefined;
    /** SQLite's extended result code, or 0. */
    readonly engineCode: number;
    /** The byte of a JSON text at which the fault is. */
    readonly offset: number | undefined;
    /** The rejected event of a batch, counted from 0. */
    readonly index: number | undefined;
    /** OutcomeUnknownError: the ids that the store made for the events. */
    readonly madeIds: (string | undefined)[] | undefined;
}
export class OutOfMemoryError extends SesliteError {}
export class MisuseError extends SesliteError {}
export class InvalidError extends SesliteError {}
export class JsonError extends SesliteError {}
export class NotFoundError extends SesliteError {}
export class ExistsError extends SesliteError {}
export class StaleError extends SesliteError {}
export class BusyError extends SesliteError {}
export class ReadOnlyError extends SesliteError {}
export class FullError extends SesliteError {}
export class IoError extends SesliteError {}
export class CorruptError extends SesliteError {}
export class NotAStoreError extends SesliteError {}
export class TooNewError extends SesliteError {}
export class LimitError extends SesliteError {}
export class InterruptedError extends SesliteError {}
export class StateTypeError extends SesliteError {}
export class StateRangeError extends SesliteError {}
export class CantOpenError extends SesliteError {}
export class InternalError extends SesliteError {}
export class OutcomeUnknownError extends SesliteError {}
export class LeasedError extends SesliteError {}
export class ConstraintError extends SesliteError {}
export class WrongKeyError extends SesliteError {}
export class UnsupportedError extends SesliteError {}
