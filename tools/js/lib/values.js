// Options and results: from JavaScript's objects to the slots of the calls, and back.
import { MisuseError } from "./errors.js";

const MAX_SEQ = 2n ** 63n - 1n;

/** A whole number, which may be a bigint. */
export function whole(value, name) {
    if (typeof value === "bigint" || Number.isSafeInteger(value)) return value;
    throw new MisuseError(`${name}: expected a whole number that JavaScript holds exactly`);
}

const MAX_SIZE = 0x7fffffff;

/** A number that is a size_t of 32 bits in C; a larger one is above every limit, too. */
export function size(value, name) {
    const given = Number(whole(value ?? 0, name));
    return given < 0 || given > MAX_SIZE ? MAX_SIZE : given;
}

/** Refuses options that no call knows: they were misspelt. */
export function known(options, names, what) {
    if (options === undefined) return {};
    if (options === null || typeof options !== "object") throw new MisuseError(`${what}: expected an object`);
    for (const name of Object.keys(options)) {
        if (!names.includes(name)) throw new MisuseError(`${what}: there is no option ${name}`);
    }
    return options;
}

/** Two slots: whether there is a number, and the number. */
export function optional(value, name) {
    return value === undefined ? [0, 0] : [1, whole(value, name)];
}

export function keyTexts(engine, key) {
    if (key === null || typeof key !== "object")
        throw new MisuseError("key: expected an object {app, user, session}");
    return [engine.text(key.app, "app"), engine.text(key.user, "user"), engine.text(key.session, "session")];
}

const RANGE_NAMES = ["none", "newest", "since", "firstSeq", "lastSeq", "live"];

/** The address of a range's slots; 0: all events. */
export function rangeSlots(engine, range) {
    if (range === undefined) return 0;
    const given = known(range, RANGE_NAMES, "range");
    const bySeq = given.firstSeq !== undefined || given.lastSeq !== undefined;
    const which =
        (given.none ? 1 : 0) |
        (given.newest !== undefined ? 2 : 0) |
        (given.since !== undefined ? 4 : 0) |
        (bySeq ? 8 : 0) |
        (given.live ? 16 : 0);
    return engine.slots([
        which,
        whole(given.newest ?? 0, "newest"),
        whole(given.since ?? 0, "since"),
        bySeq ? whole(given.firstSeq ?? 1, "firstSeq") : 0,
        bySeq ? whole(given.lastSeq ?? MAX_SEQ, "lastSeq") : 0,
    ]);
}

/** Kind, sequence number and id of a point of a log. */
export function pointValues(engine, point) {
    if (point === "now") return [0, 0n, 0];
    if (point === "lastTurn") return [4, 0n, 0];
    const given = known(point, ["seq", "event", "invocation"], "point");
    const names = Object.keys(given);
    if (names.length !== 1)
        throw new MisuseError('point: expected "now", "lastTurn", {seq}, {event} or {invocation}');
    if (given.seq !== undefined) return [1, BigInt(whole(given.seq, "seq")), 0];
    return [given.event !== undefined ? 2 : 3, 0n, engine.text(given.event ?? given.invocation, "id")];
}

/** The address of labels and their number. A value of null removes the label. */
export function labelWords(engine, labels) {
    if (labels === undefined) return [0, 0];
    const words = Object.entries(labels).flatMap(([name, value]) => [
        engine.text(name, "label"),
        engine.text(value, `label ${name}`),
    ]);
    return [engine.words(words), words.length / 2];
}

/** The flags of several calls (ses_flags). */
export const ANYWAY = 0x10000;
export const AT_VERSION = 0x20000;
export const SECURE = 0x40000;

const APPEND_NAMES = ["delta", "expected", "title", "labels", "anyway", "version"];

export function appendSlots(engine, options) {
    const given = known(options, APPEND_NAMES, "append");
    const expected = engine.bytes(given.expected, "expected");
    const delta = engine.bytes(given.delta, "delta");
    const [labels, count] = labelWords(engine, given.labels);
    return engine.slots([
        (given.anyway ? ANYWAY : 0) | (given.version !== undefined ? AT_VERSION : 0),
        whole(given.version ?? 0, "version"),
        expected.pointer,
        expected.length,
        delta.pointer,
        delta.length,
        engine.text(given.title, "title"),
        labels,
        count,
    ]);
}

const STATUSES = ["stored", "partial", "duplicate", undefined, undefined, undefined, "unchanged"];

/** The result for one event, from the slots. */
export function appended(engine) {
    return {
        status: STATUSES[engine.out(0)],
        seq: engine.out(1),
        version: engine.out(2),
        timeUs: engine.exact(3),
        updatedUs: engine.exact(4),
        madeId: engine.string(engine.out(5)) || undefined,
    };
}

/** An event, from slots 0 to 7. */
export function event(engine) {
    return {
        seq: engine.out(0),
        timeUs: engine.exact(1),
        id: engine.string(engine.out(2)),
        invocationId: engine.string(engine.out(3)),
        author: engine.string(engine.out(4)),
        branch: engine.string(engine.out(5)),
        json: engine.slice(engine.out(6), engine.out(7)),
    };
}

/** The expiry time of what does not expire. */
export const NEVER = MAX_SEQ;

/** The kinds of sessions, as bits. */
export const KINDS = { conversation: 1, child: 2, memory: 4 };

/** What a session is but for its state and its events. */
export function facts(engine, pointer) {
    engine.calls.session_facts(pointer);
    const labels = engine.out(12);
    const parentSession = engine.string(engine.out(15));
    const childSession = engine.string(engine.out(20));
    const expires = engine.exact(8);
    const archived = engine.exact(17);
    const app = engine.string(engine.out(0));
    const made = {
        app,
        user: engine.string(engine.out(1)),
        id: engine.string(engine.out(2)),
        version: engine.out(3),
        lastSeq: engine.out(4),
        stored: engine.out(5),
        createdUs: engine.exact(6),
        updatedUs: engine.exact(7),
        expiresUs: expires === NEVER ? undefined : expires,
        baseSeq: engine.out(9),
        title: engine.string(engine.out(11)),
        labels: {},
        parent:
            parentSession === undefined
                ? undefined
                : {
                      app: engine.string(engine.out(13)),
                      user: engine.string(engine.out(14)),
                      session: parentSession,
                      seq: engine.out(16),
                  },
        archivedUs: archived === 0n ? undefined : archived,
        kind: Object.keys(KINDS).find((kind) => KINDS[kind] === engine.out(18)),
        childOf:
            childSession === undefined
                ? undefined
                : { app, user: engine.string(engine.out(19)), session: childSession },
    };
    for (let index = 0; index < labels; index++) {
        engine.calls.session_label(pointer, index);
        setOwn(made.labels, engine.string(engine.out(0)), engine.string(engine.out(1)));
    }
    return made;
}

/** A name is data: "__proto__" is one like any other. */
function setOwn(object, name, value) {
    Object.defineProperty(object, name, { value, enumerable: true, configurable: true, writable: true });
}

export const dispose = Symbol.dispose ?? Symbol.for("Symbol.dispose");
