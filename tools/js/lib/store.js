// A store: opening, and the calls that need no session at hand.
import * as artifacts from "./artifacts.js";
import { Engine } from "./engine.js";
import { InvalidError, MisuseError } from "./errors.js";
import { Follower } from "./follower.js";
import { Session, checkAppended, required } from "./session.js";
import {
    AT_VERSION,
    KINDS,
    SECURE,
    appendSlots,
    dispose,
    event,
    facts,
    keyTexts,
    known,
    labelWords,
    optional,
    rangeSlots,
    size,
    whole,
} from "./values.js";

/** Closes the stores that nobody has closed. */
const forgotten = new FinalizationRegistry(async (held) => {
    try {
        await held.close();
    } catch {
        // Nobody is there to be told.
    }
});

const MEMORY = ":memory:";
const OPEN_NAMES = [
    "host",
    "wasm",
    "readOnly",
    "mustExist",
    "linked",
    "synchronous",
    "journal",
    "maxEventBytes",
    "maxSessionEvents",
];

function choose(value, choices, name) {
    const chosen = choices[value];
    if (chosen === undefined || !Object.hasOwn(choices, value))
        throw new MisuseError(`${name}: expected one of ${Object.keys(choices).join(", ")}`);
    return chosen;
}

/** A store in memory asks for no file. */
const noFiles = {
    acquire: (path) => path,
    release: () => {},
    stat: () => undefined,
};

export async function open(path, options) {
    const given = known(options, OPEN_NAMES, "open");
    if (typeof path !== "string") throw new MisuseError("path: expected a string");
    const host = path === MEMORY ? noFiles : given.host;
    if (!host) throw new MisuseError("host: a store in a file needs one");
    const engine = await Engine.make(host, given.wasm);
    const options64 = [
        (given.readOnly ? 1 : 0) | (given.mustExist ? 2 : 0) | (given.linked ? 4 : 0),
        choose(given.synchronous ?? "full", { full: 0, normal: 1 }, "synchronous"),
        choose(given.journal ?? "auto", { auto: 0, wal: 1, rollback: 2 }, "journal"),
        size(given.maxEventBytes, "maxEventBytes"),
        whole(given.maxSessionEvents ?? 0, "maxSessionEvents"),
    ];
    const resolved = await host.acquire(path, { readOnly: !!given.readOnly, mustExist: !!given.mustExist });
    try {
        return engine.frame(() => {
            engine.check(engine.calls.open(required(engine, resolved, "path"), engine.slots(options64)));
            return new Store(new Held(engine, engine.out(0), resolved), path);
        });
    } catch (error) {
        await host.release(resolved);
        throw error;
    }
}

/** What a store holds. It does not know the store, so that it can be closed once nobody else does either. */
class Held {
    constructor(engine, pointer, path) {
        this.engine = engine;
        this.pointer = pointer;
        this.path = path;
    }

    close() {
        const { engine, pointer, path } = this;
        if (pointer === 0) return undefined;
        this.pointer = 0;
        engine.free("close", pointer);
        return engine.host.release(path);
    }
}

export class Store {
    #held;
    #path;

    /** Only `open` makes stores. */
    constructor(held, path) {
        this.#held = held;
        this.#path = path;
        forgotten.register(this, held, this);
    }

    get path() {
        return this.#path;
    }

    get #engine() {
        return this.#held.engine;
    }

    get #open() {
        if (this.#held.pointer === 0) throw new MisuseError("the store was closed");
        return this.#held.pointer;
    }

    close() {
        forgotten.unregister(this);
        return this.#held.close();
    }

    [dispose]() {
        void this.close();
    }

    info() {
        const engine = this.#engine;
        engine.check(engine.calls.info(this.#open));
        return {
            journalMode: engine.string(engine.out(0)),
            sqliteVersion: engine.string(engine.out(1)),
            schemaVersion: engine.out(2),
            readOnly: engine.out(3) !== 0,
            version: engine.string(engine.calls.version()),
        };
    }

    check(options) {
        const engine = this.#engine;
        const given = known(options, ["level", "limit"], "check");
        const level = choose(given.level ?? "log", { quick: 0, full: 1, log: 2 }, "level");
        const problems = [];
        engine.transfer({ give: () => void problems.push(takeProblem(engine)) }, () =>
            engine.calls.check(this.#open, level, BigInt(whole(given.limit ?? 0, "limit"))),
        );
        return problems;
    }

    maintain() {
        return this.#engine.check(this.#engine.calls.maintain(this.#open)) > 0;
    }

    // ------------------------------------------------------------------------------------------- sessions

    #make(engine, key, state, given, call) {
        const text = engine.bytes(state, "state");
        const [labels, count] = labelWords(engine, given.labels);
        const slots = engine.slots([
            engine.text(given.title, "title"),
            labels,
            count,
            ...optional(given.expiresUs, "expiresUs"),
            ...optional(given.createdUs, "createdUs"),
            engine.text(given.childOf?.user, "childOf"),
            engine.text(given.childOf?.session, "childOf"),
        ]);
        return engine.check(call(...keyTexts(engine, key), text.pointer, text.length, slots));
    }

    create(key, state, options) {
        const engine = this.#engine;
        const given = known(options, ["title", "labels", "expiresUs", "createdUs", "childOf"], "create");
        return engine.frame(() => {
            this.#make(engine, key, state, given, (...values) => engine.calls.create(this.#open, ...values));
            return new Session(engine, engine.out(0));
        });
    }

    getOrCreate(key, state, options) {
        const engine = this.#engine;
        const given = known(
            options,
            ["title", "labels", "expiresUs", "createdUs", "childOf", "range"],
            "getOrCreate",
        );
        return engine.frame(() => {
            const range = rangeSlots(engine, given.range);
            this.#make(engine, key, state, given, (...values) =>
                engine.calls.get_or_create(this.#open, ...values, range),
            );
            return new Session(engine, engine.out(0));
        });
    }

    get(key, options) {
        const engine = this.#engine;
        const { range } = known(options, ["range"], "get");
        return engine.frame(() => {
            engine.check(engine.calls.get(this.#open, ...keyTexts(engine, key), rangeSlots(engine, range)));
            return new Session(engine, engine.out(0));
        });
    }

    append(key, json, options) {
        const engine = this.#engine;
        return engine.frame(() => {
            const { pointer, length } = engine.bytes(json, "event");
            return checkAppended(
                engine,
                engine.calls.append_by_key(
                    this.#open,
                    ...keyTexts(engine, key),
                    pointer,
                    length,
                    appendSlots(engine, options),
                ),
            );
        });
    }

    delete(key, options) {
        const engine = this.#engine;
        const given = known(options, ["secure", "children"], "delete");
        const flags = (given.secure ? SECURE : 0) | (given.children ? WITH_CHILDREN : 0);
        return engine.frame(() => {
            engine.check(engine.calls.delete(this.#open, ...keyTexts(engine, key), flags));
            return engine.out(0) > 0;
        });
    }

    family(key) {
        const engine = this.#engine;
        return engine.frame(() => {
            engine.check(engine.calls.family(this.#open, ...keyTexts(engine, key)));
            return takeFamily(engine, key.app);
        });
    }

    deleteUser(app, user, options) {
        const engine = this.#engine;
        const flags = known(options, ["secure"], "deleteUser").secure ? SECURE : 0;
        return engine.frame(() => {
            engine.check(
                engine.calls.delete_user(
                    this.#open,
                    required(engine, app, "app"),
                    required(engine, user, "user"),
                    flags,
                ),
            );
            return { sessions: engine.out(0), stateKeys: engine.out(1) };
        });
    }

    redact(key, seqs, options) {
        const engine = this.#engine;
        const given = known(options, REDACT_NAMES, "redact");
        if (seqs !== undefined && !Array.isArray(seqs))
            throw new MisuseError("seqs: expected an array of numbers");
        return engine.frame(() => {
            const content = engine.bytes(given.content, "content");
            const find = engine.bytes(given.find, "find");
            if (given.find !== undefined && find.length === 0)
                throw new InvalidError("find: the text is empty");
            const slots = engine.slots([
                (given.version !== undefined ? AT_VERSION : 0) |
                    (given.secure ? SECURE : 0) |
                    (given.state ? 0x10 : 0) |
                    (given.forks ? 0x20 : 0) |
                    (given.count ? 0x40 : 0) |
                    (given.names ? 0x80 : 0),
                whole(given.version ?? 0, "version"),
                engine.text(given.text, "text"),
                content.pointer,
                content.length,
                find.pointer,
                find.length,
            ]);
            const numbers = engine.slots([...(seqs ?? []).map((seq) => whole(seq, "seqs")), 0]);
            engine.check(
                engine.calls.redact(this.#open, ...keyTexts(engine, key), numbers, seqs?.length ?? -1, slots),
            );
            return takeErased(engine);
        });
    }

    *find(scope, text, options) {
        const engine = this.#engine;
        const given = known(options, ["ignoreCase"], "find");
        let token;
        do {
            const page = engine.frame(() => {
                const wanted = engine.bytes(text, "text");
                const slots = engine.slots([given.ignoreCase ? 1 : 0, 0, engine.text(token, "token")]);
                const named = keyTexts(engine, scope);
                engine.check(engine.calls.find(this.#open, ...named, wanted.pointer, wanted.length, slots));
                return takeFindings(engine);
            });
            yield* page.findings;
            token = page.token;
        } while (token !== undefined);
    }

    *events(key, options) {
        const engine = this.#engine;
        const given = known(options, ["backward", "range"], "events");
        const cursor = engine.frame(() => {
            engine.check(
                engine.calls.cursor_open(
                    this.#open,
                    ...keyTexts(engine, key),
                    given.backward ? 1 : 0,
                    rangeSlots(engine, given.range),
                ),
            );
            return engine.out(0);
        });
        try {
            while (engine.check(engine.calls.cursor_next(cursor)) > 0) yield event(engine);
        } finally {
            engine.free("cursor_close", cursor);
        }
    }

    // ---------------------------------------------------------------------------------------------- lists

    list(app, user, options) {
        const engine = this.#engine;
        const given = known(options, ["order", "limit", "token", "state", "filter"], "list");
        return engine.frame(() => {
            engine.check(
                engine.calls.list(
                    this.#open,
                    required(engine, app, "app"),
                    engine.text(user, "user"),
                    choose(
                        given.order ?? "newest",
                        { newest: 0, oldest: 1, created: 2, changed: 3 },
                        "order",
                    ),
                    size(given.limit, "limit"),
                    engine.text(given.token, "token"),
                    given.state === false ? 1 : 0,
                    filterSlots(engine, given.filter),
                ),
            );
            return takePage(engine, given.state !== false);
        });
    }

    *listAll(app, user, options) {
        let page = this.list(app, user, options);
        yield* page.sessions;
        while (page.token !== undefined) {
            page = this.list(app, user, { ...options, token: page.token });
            yield* page.sessions;
        }
    }

    count(app, user, filter) {
        const engine = this.#engine;
        return engine.frame(() => {
            engine.check(
                engine.calls.list_count(
                    this.#open,
                    required(engine, app, "app"),
                    engine.text(user, "user"),
                    filterSlots(engine, filter),
                ),
            );
            return engine.out(0);
        });
    }

    *apps() {
        yield* this.#names(undefined);
    }

    *users(app) {
        if (typeof app !== "string") throw new MisuseError("app: expected a string");
        yield* this.#names(app);
    }

    *#names(app) {
        const engine = this.#engine;
        let after;
        do {
            const page = engine.frame(() => {
                engine.check(
                    engine.calls.names(this.#open, engine.text(app, "app"), 0, engine.text(after, "after")),
                );
                return takeNames(engine);
            });
            yield* page.names;
            after = page.next;
        } while (after !== undefined);
    }

    // -------------------------------------------------------------------------------------- shared state

    sharedStateJson(app, user) {
        const engine = this.#engine;
        return engine.frame(() => {
            engine.check(
                engine.calls.shared_state(
                    this.#open,
                    required(engine, app, "app"),
                    engine.text(user, "user"),
                ),
            );
            return engine.takeText();
        });
    }

    changeSharedState(app, user, delta, options) {
        const engine = this.#engine;
        const given = known(options, ["expected"], "changeSharedState");
        engine.frame(() => {
            const change = engine.bytes(delta, "delta");
            const expected = engine.bytes(given.expected, "expected");
            engine.check(
                engine.calls.shared_state_change(
                    this.#open,
                    required(engine, app, "app"),
                    engine.text(user, "user"),
                    change.pointer,
                    change.length,
                    expected.pointer,
                    expected.length,
                ),
            );
        });
    }

    // ------------------------------------------------------------------------------------ search, follow

    search(scope, words, options) {
        const engine = this.#engine;
        const given = known(
            options,
            ["any", "phrase", "live", "limit", "token", "snippetBytes", "since", "before"],
            "search",
        );
        return engine.frame(() => {
            const text = engine.bytes(words, "words");
            const slots = engine.slots([
                (given.any ? 1 : 0) | (given.phrase ? 2 : 0) | (given.live ? 4 : 0),
                size(given.limit, "limit"),
                engine.text(given.token, "token"),
                size(given.snippetBytes, "snippetBytes"),
                ...optional(given.since, "since"),
                ...optional(given.before, "before"),
            ]);
            engine.check(
                engine.calls.search(this.#open, ...keyTexts(engine, scope), text.pointer, text.length, slots),
            );
            return takeHits(engine);
        });
    }

    index(options) {
        const given = known(options, ["rebuild", "drop"], "index");
        this.#engine.check(
            this.#engine.calls.index(this.#open, (given.rebuild ? 1 : 0) | (given.drop ? 2 : 0)),
        );
        return this.#engine.out(0);
    }

    usage(scope, options) {
        const engine = this.#engine;
        const given = known(options, ["by", "since", "before", "limit", "token"], "usage");
        return engine.frame(() => {
            const slots = engine.slots([
                groupings(given.by ?? []),
                size(given.limit, "limit"),
                engine.text(given.token, "token"),
                ...optional(given.since, "since"),
                ...optional(given.before, "before"),
            ]);
            engine.check(engine.calls.usage(this.#open, ...keyTexts(engine, scope), slots));
            return takeUsage(engine);
        });
    }

    tally(options) {
        const given = known(options, ["rebuild", "drop"], "tally");
        this.#engine.check(
            this.#engine.calls.tally(this.#open, (given.rebuild ? 1 : 0) | (given.drop ? 2 : 0)),
        );
        return this.#engine.out(0);
    }

    follow(key, options) {
        const engine = this.#engine;
        const given = known(options, ["onlyNew", "afterSeq", "place", "signal"], "follow");
        return engine.frame(() => new Follower(engine, this.#open, this.#held, keyTexts(engine, key), given));
    }

    // ------------------------------------------------------------------------------------------ artifacts

    saveArtifact(key, name, content, options) {
        return artifacts.save(this.#engine, this.#open, key, name, content, options);
    }

    readArtifact(key, name, options) {
        return artifacts.read(this.#engine, this.#open, key, name, options);
    }

    *artifacts(key) {
        yield* artifacts.list(this.#engine, () => this.#open, key);
    }

    *artifactVersions(key, name) {
        yield* artifacts.versions(this.#engine, () => this.#open, key, name);
    }

    inlineArtifacts(key, event, options) {
        return artifacts.inline(this.#engine, this.#open, key, event, options);
    }

    deleteArtifact(key, name, options) {
        return artifacts.remove(this.#engine, this.#open, key, name, options);
    }

    // ---------------------------------------------------------------------------------------------- texts

    export(write, options) {
        const engine = this.#engine;
        const given = known(options, EXPORT_NAMES, "export");
        if (typeof write !== "function") throw new MisuseError("write: expected a function");
        const { leftOut } = given;
        if (leftOut !== undefined && typeof leftOut !== "function")
            throw new MisuseError("leftOut: expected a function");
        const flags = (given.onlySessions ? 1 : 0) | (given.skip ? 2 : 0);
        engine.frame(() => {
            const key = keyTexts(engine, given);
            engine.transfer({ give: (bytes) => write(bytes.slice()), leftOut }, () =>
                engine.calls.export(this.#open, ...key, flags, leftOut ? 1 : 0),
            );
        });
    }

    exportText(options) {
        const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
        let text = "";
        this.export((bytes) => {
            text += decoder.decode(bytes, { stream: true });
        }, options);
        return text + decoder.decode();
    }

    import(source, options) {
        const engine = this.#engine;
        const given = known(
            options,
            ["app", "user", "onConflict", "update", "dryRun", "skip", "replaceKeys"],
            "import",
        );
        const conflict = choose(
            given.onConflict ?? "refuse",
            { refuse: 0, replace: 2, rename: 4 },
            "onConflict",
        );
        const flags =
            (given.update ? 1 : 0) |
            conflict |
            (given.dryRun ? 8 : 0) |
            (given.skip ? 16 : 0) |
            (given.replaceKeys ? 32 : 0);
        const take = reader(typeof source === "string" ? new TextEncoder().encode(source) : source);
        return engine.frame(() => {
            const app = engine.text(given.app, "app");
            const user = engine.text(given.user, "user");
            engine.transfer({ take }, () => engine.calls.import(this.#open, app, user, flags));
            return takeReport(engine);
        });
    }
}

// ------------------------------------------------------------------------------------------------- results

function takeProblem(engine) {
    const seq = engine.out(4);
    return {
        kind: engine.string(engine.out(0)),
        app: engine.string(engine.out(1)),
        user: engine.string(engine.out(2)),
        session: engine.string(engine.out(3)),
        seq: seq === 0 ? undefined : seq,
        message: engine.string(engine.out(5)),
    };
}

const WITH_CHILDREN = 0x1;
const RELATIONS = [undefined, "parent", "fork", "sibling", "childOf", "child"];

function takeFamily(engine, app) {
    const family = engine.out(0);
    const count = engine.out(1);
    try {
        return Array.from({ length: count }, (_, index) => {
            engine.calls.family_at(family, index);
            return {
                relation: RELATIONS[engine.out(0)],
                key: { app, user: engine.string(engine.out(1)), session: engine.string(engine.out(2)) },
                seq: engine.out(3),
                createdUs: engine.exact(4),
            };
        });
    } finally {
        engine.free("family_close", family);
    }
}

function kindBit(kind) {
    if (!Object.hasOwn(KINDS, kind))
        throw new MisuseError(`kinds: expected ${Object.keys(KINDS).join(", ")}, not ${String(kind)}`);
    return KINDS[kind];
}

function filterSlots(engine, filter) {
    const given = known(
        filter,
        [
            "label",
            "value",
            "idPrefix",
            "updatedSince",
            "updatedBefore",
            "changedSince",
            "changedBefore",
            "withoutLabel",
            "archived",
            "kinds",
            "childOf",
        ],
        "filter",
    );
    return engine.slots([
        engine.text(given.label, "label"),
        engine.text(given.value, "value"),
        engine.text(given.idPrefix, "idPrefix"),
        ...optional(given.updatedSince, "updatedSince"),
        ...optional(given.updatedBefore, "updatedBefore"),
        ...optional(given.changedSince, "changedSince"),
        ...optional(given.changedBefore, "changedBefore"),
        engine.text(given.withoutLabel, "withoutLabel"),
        given.archived === undefined ? 0 : given.archived ? 2 : 1,
        Array.from(given.kinds ?? []).reduce((all, kind) => all | kindBit(kind), 0),
        engine.text(given.childOf?.user, "childOf"),
        engine.text(given.childOf?.session, "childOf"),
    ]);
}

function takePage(engine, withState) {
    const page = engine.out(0);
    const count = engine.out(1);
    const token = engine.string(engine.out(2));
    try {
        const sessions = Array.from({ length: count }, (_, index) => {
            const session = engine.calls.page_session(page, index);
            const made = facts(engine, session);
            if (withState) {
                engine.check(engine.calls.state_json(session));
                made.stateJson = engine.slice(engine.out(0), engine.out(1));
            }
            engine.calls.page_changed(page, index);
            made.changedUs = engine.exact(0);
            return made;
        });
        return { sessions, token };
    } finally {
        engine.free("page_close", page);
    }
}

function takeNames(engine) {
    const page = engine.out(0);
    const count = engine.out(1);
    const next = engine.string(engine.out(2));
    try {
        return {
            names: Array.from({ length: count }, (_, index) =>
                engine.string(engine.calls.names_at(page, index)),
            ),
            next,
        };
    } finally {
        engine.free("names_close", page);
    }
}

function takeHit(engine) {
    const snippet = engine.out(6);
    const found = engine.out(8);
    return {
        seq: engine.out(0),
        timeUs: engine.exact(1),
        user: engine.string(engine.out(2)),
        session: engine.string(engine.out(3)),
        id: engine.string(engine.out(4)),
        author: engine.string(engine.out(5)),
        snippet: snippet === 0 ? undefined : engine.slice(snippet, engine.out(7)),
        // In units of JavaScript's strings, where the library counts bytes.
        snippetFound: snippet === 0 ? undefined : engine.slice(snippet, found).length,
    };
}

const EXPORT_NAMES = ["app", "user", "session", "onlySessions", "skip", "leftOut"];
const REDACT_NAMES = ["state", "names", "forks", "count", "secure", "version", "text", "content", "find"];

const ERASED = [
    "sessions",
    "events",
    "stateKeys",
    "artifacts",
    "indexEvents",
    "forksLeft",
    "stateLeft",
    "artifactsLeft",
    "compactionsLeft",
    "derivedLeft",
    "names",
    "namesLeft",
];

function takeErased(engine) {
    const erased = Object.fromEntries(ERASED.map((name, slot) => [name, engine.out(slot)]));
    const forksLeft = erased.forksLeft < 0 ? undefined : erased.forksLeft;
    return { ...erased, forksLeft, more: engine.out(ERASED.length) === 1 };
}

/** By their numbers (ses_found). */
const FOUND = [
    "other",
    "id",
    "parent",
    "title",
    "label",
    "key",
    "value",
    "initial",
    "base",
    "event",
    "artifact",
    "bytes",
];

function takeFinding(engine) {
    const seq = engine.out(5);
    const version = engine.out(6);
    const text = engine.out(7);
    return {
        kind: FOUND[engine.out(0)] ?? "other",
        app: engine.string(engine.out(1)),
        user: engine.string(engine.out(2)),
        session: engine.string(engine.out(3)),
        name: engine.string(engine.out(4)),
        seq: seq === 0 ? undefined : seq,
        version: version < 0 ? undefined : version,
        text: text === 0 ? undefined : engine.slice(text, engine.out(8)),
        // In units of JavaScript's strings, where the library counts bytes.
        textFound: text === 0 ? undefined : engine.slice(text, engine.out(9)).length,
    };
}

function takeFindings(engine) {
    const page = engine.out(0);
    const count = engine.out(1);
    const token = engine.string(engine.out(2));
    try {
        const findings = Array.from({ length: count }, (_, index) => {
            engine.calls.findings_at(page, index);
            return takeFinding(engine);
        });
        return { findings, token };
    } finally {
        engine.free("findings_close", page);
    }
}

const GROUPINGS = ["app", "user", "session", "day", "model", "invocation"];

function groupings(by) {
    if (!Array.isArray(by)) throw new MisuseError("by: expected an array");
    return by.reduce((flags, name) => {
        const at = GROUPINGS.indexOf(name);
        if (at < 0) throw new MisuseError(`by: expected ${GROUPINGS.join(", ")}`);
        return flags | (1 << at);
    }, 0);
}

const COUNTS = ["calls", "prompt", "cached", "candidates", "thoughts", "toolUse", "total", "odd"];

function takeUsageRow(engine, page, index) {
    engine.calls.usage_at(page, index);
    const texts = GROUPINGS.map((name, slot) => [name, engine.string(engine.out(slot))]);
    const counts = COUNTS.map((name, slot) => [name, engine.out(GROUPINGS.length + slot)]);
    const times = GROUPINGS.length + COUNTS.length;
    return {
        ...Object.fromEntries([...texts, ...counts]),
        firstUs: engine.exact(times),
        lastUs: engine.exact(times + 1),
    };
}

function takeUsage(engine) {
    const page = engine.out(0);
    const count = engine.out(1);
    const token = engine.string(engine.out(2));
    try {
        const rows = Array.from({ length: count }, (_, index) => takeUsageRow(engine, page, index));
        return { rows, sum: takeUsageRow(engine, page, -1), token };
    } finally {
        engine.free("usage_close", page);
    }
}

function takeHits(engine) {
    const page = engine.out(0);
    const count = engine.out(1);
    const token = engine.string(engine.out(2));
    const indexed = engine.out(3) === 1;
    try {
        const hits = Array.from({ length: count }, (_, index) => {
            engine.calls.hits_at(page, index);
            return takeHit(engine);
        });
        return { hits, token, indexed };
    } finally {
        engine.free("hits_close", page);
    }
}

const REPORT = [
    "lines",
    "made",
    "equal",
    "updated",
    "replaced",
    "renamed",
    "refused",
    "events",
    "keys",
    "keysKept",
    "artifacts",
    "artifactsKept",
    "unknown",
];

function takeReport(engine) {
    return Object.fromEntries(REPORT.map((name, index) => [name, engine.out(index)]));
}

/** Fills buffers from bytes, or from the pieces of an iterable. */
function reader(source) {
    const pieces = (source instanceof Uint8Array ? [source] : source)[Symbol.iterator]();
    let piece = new Uint8Array(0);
    return (buffer) => {
        while (piece.length === 0) {
            const next = pieces.next();
            if (next.done) return 0;
            piece = typeof next.value === "string" ? new TextEncoder().encode(next.value) : next.value;
        }
        const count = Math.min(piece.length, buffer.length);
        buffer.set(piece.subarray(0, count));
        piece = piece.subarray(count);
        return count;
    };
}
