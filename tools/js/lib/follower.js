// Follows the events of a session, or of all of a user, as this store appends them.
import { MisuseError } from "./errors.js";
import { dispose, event, whole } from "./values.js";

const CODE_ROW = 4;
const CODE_RESET = 8;

const forgotten = new FinalizationRegistry((held) => held.close());

/** What a follower holds, without the follower itself. */
class HeldFollower {
    constructor(engine, pointer, listener) {
        this.engine = engine;
        this.pointer = pointer;
        this.listener = listener;
    }

    close() {
        if (this.pointer !== 0) this.engine.free("follower_close", this.pointer);
        this.pointer = 0;
        this.engine.unlisten(this.listener);
    }
}

export class Follower {
    #engine;
    #store;
    #held;
    #news = { wake: undefined };
    #signal;
    #turn = Promise.resolve();
    #onAbort = () => this.#news.wake?.();

    /** Only Store.follow makes followers; within its frame. */
    constructor(engine, pointer, store, key, options) {
        const news = this.#news;
        const listener = engine.listen(() => news.wake?.());
        const after = BigInt(whole(options.afterSeq ?? 0, "afterSeq"));
        const place = engine.text(options.place, "place");
        try {
            engine.check(
                engine.calls.follower_open(pointer, ...key, options.onlyNew ? 1 : 0, after, place, listener),
            );
        } catch (error) {
            engine.unlisten(listener);
            throw error;
        }
        this.#engine = engine;
        this.#store = store;
        this.#held = new HeldFollower(engine, engine.out(0), listener);
        this.#signal = options.signal;
        this.#signal?.addEventListener("abort", this.#onAbort);
        forgotten.register(this, this.#held, this);
    }

    [Symbol.asyncIterator]() {
        return this;
    }

    /** The news that is there; undefined: none. */
    poll() {
        if (this.#held.pointer === 0) throw new MisuseError("the follower was closed");
        const engine = this.#engine;
        const code = engine.check(engine.calls.follower_next(this.#held.pointer));
        if (code === CODE_ROW) return { session: engine.string(engine.out(8)), event: event(engine) };
        return code === CODE_RESET ? { session: engine.string(engine.out(8)), reset: true } : undefined;
    }

    get #ended() {
        return this.#held.pointer === 0 || this.#store.pointer === 0 || this.#signal?.aborted;
    }

    /**
     * Ends once the follower or the store is closed, or the signal is aborted. Calls are served one after
     * another.
     */
    next() {
        const turn = this.#turn.then(() => this.#wait());
        this.#turn = turn.catch(() => {}); // the caller of that turn has the failure
        return turn;
    }

    async #wait() {
        while (!this.#ended) {
            const waits = new Promise((resolve) => {
                this.#news.wake = resolve;
            });
            const value = this.poll();
            if (value) return { value, done: false };
            await waits;
        }
        this.close();
        return { value: undefined, done: true };
    }

    async return() {
        this.close();
        return { value: undefined, done: true };
    }

    /** The place after the last news, with which a follower can go on; see ses_follower_place. */
    place() {
        if (this.#held.pointer === 0) throw new MisuseError("the follower was closed");
        return this.#engine.string(this.#engine.calls.follower_place(this.#held.pointer));
    }

    close() {
        forgotten.unregister(this);
        this.#signal?.removeEventListener("abort", this.#onAbort);
        this.#held.close();
        this.#news.wake?.();
    }

    [dispose]() {
        this.close();
    }
}
