// A session: a snapshot, which its own appends move forward.
import { MisuseError } from "./errors.js";
import {
    ANYWAY,
    NEVER,
    SECURE,
    appendSlots,
    appended,
    dispose,
    event,
    facts,
    known,
    labelWords,
    optional,
    pointValues,
    rangeSlots,
    whole,
} from "./values.js";

/** Closes the sessions that nobody has closed. */
const forgotten = new FinalizationRegistry(({ engine, pointer }) => {
    engine.free("session_close", pointer);
});

const CODE_MORE = 7;

export class Session {
    #engine;
    #pointer;

    /** Only the library makes sessions. */
    constructor(engine, pointer) {
        this.#engine = engine;
        this.#pointer = pointer;
        forgotten.register(this, { engine, pointer }, this);
    }

    get #open() {
        if (this.#pointer === 0) throw new MisuseError("the session was closed");
        return this.#pointer;
    }

    close() {
        if (this.#pointer === 0) return;
        forgotten.unregister(this);
        this.#engine.free("session_close", this.#pointer);
        this.#pointer = 0;
    }

    [dispose]() {
        this.close();
    }

    // ------------------------------------------------------------------------------------------- reading

    facts() {
        return facts(this.#engine, this.#open);
    }

    #fact(slot) {
        this.#engine.calls.session_facts(this.#open);
        return this.#engine.out(slot);
    }

    get app() {
        return this.#engine.string(this.#fact(0));
    }

    get user() {
        return this.#engine.string(this.#fact(1));
    }

    get id() {
        return this.#engine.string(this.#fact(2));
    }

    get version() {
        return this.#fact(3);
    }

    get lastSeq() {
        return this.#fact(4);
    }

    get eventCount() {
        return this.#fact(10);
    }

    event(index) {
        if (!Number.isInteger(index) || index < 0 || index >= this.eventCount) return undefined;
        this.#engine.calls.session_event(this.#open, index);
        return event(this.#engine);
    }

    events() {
        return Array.from({ length: this.eventCount }, (_, index) => this.event(index));
    }

    stateJson() {
        this.#engine.check(this.#engine.calls.state_json(this.#open));
        return this.#engine.slice(this.#engine.out(0), this.#engine.out(1));
    }

    stateGet(name) {
        const engine = this.#engine;
        return engine.frame(() => {
            engine.check(engine.calls.state_get(this.#open, required(engine, name, "name")));
            return engine.out(0) === 0 ? undefined : engine.slice(engine.out(0), engine.out(1));
        });
    }

    stateAsOf(point) {
        const engine = this.#engine;
        return engine.frame(() => {
            engine.check(engine.calls.state_as_of(this.#open, ...pointValues(engine, point)));
            return engine.takeText();
        });
    }

    json() {
        this.#engine.check(this.#engine.calls.session_json(this.#open));
        return this.#engine.takeText();
    }

    refresh() {
        this.#engine.check(this.#engine.calls.refresh(this.#open));
    }

    // ------------------------------------------------------------------------------------------- writing

    append(json, options) {
        const engine = this.#engine;
        return engine.frame(() => {
            const { pointer, length } = engine.bytes(json, "event");
            const code = engine.calls.append(this.#open, pointer, length, appendSlots(engine, options));
            return checkAppended(engine, code);
        });
    }

    appendBatch(events, options) {
        const engine = this.#engine;
        return engine.frame(() => {
            const texts = Array.from(events, (json) => engine.bytes(json, "event"));
            const words = engine.words(texts.flatMap(({ pointer, length }) => [pointer, length]));
            const slots = appendSlots(engine, options);
            const code = engine.calls.append_batch(this.#open, words, texts.length, slots);
            return takeBatch(engine, code, texts.length);
        });
    }

    setTitle(title) {
        const engine = this.#engine;
        engine.frame(() => engine.check(engine.calls.title_set(this.#open, engine.text(title, "title"))));
    }

    setArchived(archived = true) {
        const engine = this.#engine;
        engine.frame(() => engine.check(engine.calls.archive_set(this.#open, archived ? 1 : 0)));
    }

    setLabels(labels) {
        const engine = this.#engine;
        engine.frame(() => engine.check(engine.calls.labels_set(this.#open, ...labelWords(engine, labels))));
    }

    // ------------------------------------------------------------------------------------------- history

    rewind(point, options) {
        const engine = this.#engine;
        return engine.frame(() =>
            checkAppended(
                engine,
                engine.calls.rewind(this.#open, ...pointValues(engine, point), anyway(options, "rewind")),
            ),
        );
    }

    redo(options) {
        return checkAppended(this.#engine, this.#engine.calls.redo(this.#open, anyway(options, "redo")));
    }

    cut(point, options) {
        const engine = this.#engine;
        return engine.frame(() => {
            engine.check(engine.calls.cut(this.#open, ...pointValues(engine, point), anyway(options, "cut")));
            return engine.out(0);
        });
    }

    pop(point, options) {
        const engine = this.#engine;
        const given = known(options, ["anyway", "secure"], "pop");
        return engine.frame(() => {
            const flags = (given.anyway ? ANYWAY : 0) | (given.secure ? SECURE : 0);
            engine.check(engine.calls.pop(this.#open, ...pointValues(engine, point), flags));
            return takePopped(engine);
        });
    }

    prune(options) {
        const engine = this.#engine;
        const given = known(options, ["keep", "before", "lastSeq", "compacted", "secure", "limit"], "prune");
        return engine.frame(() => {
            const slots = engine.slots([
                (given.keep !== undefined ? 1 : 0) |
                    (given.before !== undefined ? 2 : 0) |
                    (given.lastSeq !== undefined ? 4 : 0) |
                    (given.compacted ? 8 : 0),
                given.secure ? SECURE : 0,
                whole(given.keep ?? 0, "keep"),
                whole(given.before ?? 0, "before"),
                whole(given.lastSeq ?? 0, "lastSeq"),
                whole(given.limit ?? 0, "limit"),
            ]);
            const code = engine.check(engine.calls.prune(this.#open, slots));
            return { deleted: engine.out(0), more: code === CODE_MORE };
        });
    }

    fork(point, options) {
        const engine = this.#engine;
        const { user, session, range, expiresUs } = known(
            options,
            ["user", "session", "range", "expiresUs"],
            "fork",
        );
        const expires = expiresUs === null ? NEVER : expiresUs;
        return engine.frame(() => {
            engine.check(
                engine.calls.fork(
                    this.#open,
                    ...pointValues(engine, point),
                    engine.text(user, "user"),
                    engine.text(session, "session"),
                    rangeSlots(engine, range),
                    engine.slots(optional(expires, "expiresUs")),
                ),
            );
            return new Session(engine, engine.out(0));
        });
    }
}

function anyway(options, what) {
    return known(options, ["anyway"], what).anyway ? ANYWAY : 0;
}

export function required(engine, value, name) {
    if (typeof value !== "string") throw new MisuseError(`${name}: expected a string`);
    return engine.text(value, name);
}

/** The result of an append. An error whose outcome is unknown has the id that was made. */
export function checkAppended(engine, code) {
    const result = appended(engine);
    engine.check(code, result.madeId ? { madeIds: [result.madeId] } : {});
    return result;
}

function takePopped(engine) {
    const popped = engine.out(0);
    const count = engine.out(1);
    try {
        return Array.from({ length: count }, (_, index) => {
            engine.calls.popped_event(popped, index);
            return event(engine);
        });
    } finally {
        engine.free("popped_close", popped);
    }
}

function takeBatch(engine, code, count) {
    const array = engine.out(0);
    const results = [];
    try {
        for (let index = 0; index < count && array !== 0; index++) {
            engine.calls.appended_at(array, index);
            results.push(appended(engine));
        }
        engine.check(code, { madeIds: results.map((result) => result.madeId) });
        return results;
    } finally {
        engine.free("release", array);
    }
}
