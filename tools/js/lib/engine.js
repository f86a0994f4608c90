// One instance of the WebAssembly module, and how JavaScript's values get into it and out of it. Each store
// has one of its own, so its memory goes when nothing refers to the store and its sessions any more.
import { CorruptError, InternalError, InvalidError, MisuseError, makeError } from "./errors.js";

const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

const SCRATCH_BYTES = 64 * 1024;
const CODE_INTERRUPTED = -16;

// The failures that a host may report, as in src/host.h.
const FAILED = -1;
const ABSENT = -2;
const FAILURES = new Map([
    ["ENOENT", ABSENT],
    ["NotFoundError", ABSENT],
    ["EBUSY", -3],
    ["EAGAIN", -3],
    ["ENOSPC", -4],
    ["EDQUOT", -4],
    ["EFBIG", -4],
    ["QuotaExceededError", -4],
    ["EACCES", -5],
    ["EPERM", -5],
    ["EROFS", -6],
    ["EEXIST", -7],
]);

let compiled;

/** The module as it lies beside this file, compiled once. */
function defaultModule() {
    compiled ??= compileDefault().catch((error) => {
        compiled = undefined;
        throw error;
    });
    return compiled;
}

async function compileDefault() {
    const url = new URL("./seslite.wasm", import.meta.url);
    if (url.protocol === "file:") {
        const { readFile } = await import("node:fs/promises");
        return WebAssembly.compile(await readFile(url));
    }
    const answer = await fetch(url);
    if (!answer.ok) throw new InternalError(`${url}: the server answers ${answer.status}`);
    return WebAssembly.compile(await answer.arrayBuffer());
}

/** Well-formed UTF-16, which UTF-8 can express. */
function isWellFormed(text) {
    return text.isWellFormed ? text.isWellFormed() : !/\p{Surrogate}/u.test(text);
}

export class Engine {
    host;
    calls = {};
    #memory;
    #bytes = new Uint8Array(0);
    #view = new DataView(new ArrayBuffer(0));
    #out;
    #scratch;
    #used = 0;
    #extra = [];
    #broken;
    #hostError;
    #listeners = new Map();
    #lastListener = 0;
    #give;
    #take;
    #leftOut;
    #callbackError;

    /** `wasm`: a module, its bytes, or undefined for the one of the package. */
    static async make(host, wasm) {
        const given = await wasm;
        const module =
            given === undefined
                ? await defaultModule()
                : given instanceof WebAssembly.Module
                  ? given
                  : await WebAssembly.compile(given);
        const engine = new Engine();
        engine.host = host;
        const instance = await WebAssembly.instantiate(module, engine.#imports());
        engine.#adopt(instance.exports);
        return engine;
    }

    #adopt(exports) {
        this.#memory = exports.memory;
        for (const [name, call] of Object.entries(exports)) {
            if (typeof call === "function") this.calls[name] = (...values) => this.#run(call, values);
        }
        this.calls._initialize();
        this.#out = this.calls.out();
        this.#scratch = this.calls.allocate(SCRATCH_BYTES);
    }

    #run(call, values) {
        if (this.#broken)
            throw new InternalError("an earlier call has failed within WebAssembly", { cause: this.#broken });
        this.#hostError = undefined;
        try {
            return call(...values);
        } catch (error) {
            this.#broken = error; // a trap leaves the memory in the middle of something
            throw new InternalError("the call failed within WebAssembly", { cause: error });
        }
    }

    /** Frees what a call has given. After a failure within WebAssembly nothing can be, nor need be. */
    free(call, pointer) {
        if (!this.#broken) this.calls[call](pointer);
    }

    // ------------------------------------------------------------------------------------------ imports

    #imports() {
        const guard =
            (work) =>
            (...values) => {
                try {
                    return work(...values) ?? 0;
                } catch (error) {
                    const failure = FAILURES.get(error?.code) ?? FAILURES.get(error?.name) ?? FAILED;
                    // The first is the cause of those that follow.
                    if (failure !== ABSENT) this.#hostError ??= error;
                    return failure;
                }
            };
        const part = (pointer, count) => this.part(pointer, count);
        const files = () => this.host;
        const host = {
            open: guard((path, flags) =>
                files().open(this.string(path), {
                    write: !!(flags & 1),
                    create: !!(flags & 2),
                    exclusive: !!(flags & 4),
                }),
            ),
            close: guard((handle) => files().close(handle)),
            read: guard((handle, pointer, count, offset) =>
                files().read(handle, part(pointer, count), offset),
            ),
            write: guard(
                (handle, pointer, count, offset) => void files().write(handle, part(pointer, count), offset),
            ),
            truncate: guard((handle, size) => files().truncate(handle, size)),
            sync: guard((handle, folder) => files().sync(handle, !!folder)),
            size: guard((handle) => files().size(handle)),
            delete: guard((path, syncFolder) => files().delete(this.string(path), !!syncFolder)),
            stat: guard((path, pointer) => this.#stat(this.string(path), pointer)),
            wall,
            steady: () => performance.now() * 1000,
            sleep,
            random: (pointer, count) => {
                for (let at = 0; at < count; at += 65536)
                    crypto.getRandomValues(part(pointer + at, Math.min(65536, count - at)));
            },
            notify: (id) => this.#listeners.get(id)?.(),
            give: (pointer, count) => this.#callBack(() => void this.#give(part(pointer, count))),
            take: (pointer, capacity) => this.#callBack(() => this.#take(part(pointer, capacity))),
            left_out: (code, message) =>
                this.#callBack(() => void this.#leftOut(makeError(code, this.string(message)))),
        };
        const absent = () => 52; // ENOSYS
        const wasi = {
            fd_close: absent,
            poll_oneoff: absent,
            environ_sizes_get: (count, size) => {
                this.#look().setUint32(count, 0, true);
                this.#look().setUint32(size, 0, true);
                return 0;
            },
            environ_get: () => 0,
            proc_exit: (code) => {
                throw new Error(`the module has ended itself with ${code}`);
            },
        };
        return { host, wasi_snapshot_preview1: wasi };
    }

    #stat(path, pointer) {
        const found = this.host.stat(path);
        if (found === undefined) return ABSENT;
        this.#look().setBigInt64(pointer, BigInt(found.size), true);
        this.#look().setBigInt64(pointer + 8, BigInt.asIntN(64, BigInt(found.device)), true);
        this.#look().setBigInt64(pointer + 16, BigInt.asIntN(64, BigInt(found.inode)), true);
        this.#look().setBigInt64(pointer + 24, BigInt(found.links ?? 1), true);
        return 0;
    }

    #callBack(work) {
        try {
            return work() ?? 0;
        } catch (error) {
            this.#callbackError = error;
            return CODE_INTERRUPTED;
        }
    }

    /** Runs an export or an import, which calls `give`, `take` and `leftOut`. What those throw is thrown. */
    transfer({ give, take, leftOut }, call) {
        const before = [this.#give, this.#take, this.#leftOut];
        [this.#give, this.#take, this.#leftOut] = [give, take, leftOut];
        this.#callbackError = undefined;
        try {
            return this.check(call());
        } catch (error) {
            throw this.#callbackError ?? error;
        } finally {
            [this.#give, this.#take, this.#leftOut] = before;
            this.#callbackError = undefined;
        }
    }

    /**
     * Returns a number for `listener`, which is called from within calls of the library and must not make
     * any.
     */
    listen(listener) {
        this.#listeners.set(++this.#lastListener, listener);
        return this.#lastListener;
    }

    unlisten(id) {
        this.#listeners.delete(id);
    }

    // ------------------------------------------------------------------------------------------- memory

    /** The memory, whose buffer is another one after it has grown. */
    #heap() {
        if (this.#bytes.buffer !== this.#memory.buffer) this.#bytes = new Uint8Array(this.#memory.buffer);
        return this.#bytes;
    }

    #look() {
        if (this.#view.buffer !== this.#memory.buffer) this.#view = new DataView(this.#memory.buffer);
        return this.#view;
    }

    /** These bytes of the memory, until the next call. */
    part(pointer, count) {
        return this.#heap().subarray(pointer, pointer + count);
    }

    /** Runs `work`, and frees what it has put into the memory for its call. */
    frame(work) {
        const used = this.#used;
        const extra = this.#extra.length;
        try {
            return work();
        } finally {
            this.#used = used;
            for (const pointer of this.#extra.splice(extra)) this.free("release", pointer);
        }
    }

    /** Memory until the end of the frame. */
    room(count) {
        if (count <= SCRATCH_BYTES - this.#used) {
            const pointer = this.#scratch + this.#used;
            this.#used += (count + 7) & ~7;
            return pointer;
        }
        const pointer = this.calls.allocate(count);
        if (pointer === 0) throw makeError("NOMEM", "out of memory");
        this.#extra.push(pointer);
        return pointer;
    }

    /** Puts a text into the memory, or bytes as they are, and a NUL after it. Only within a frame. */
    bytes(value, name) {
        if (value === undefined || value === null) return { pointer: 0, length: 0 };
        if (value instanceof Uint8Array) return this.#copy(value);
        if (typeof value !== "string") throw new MisuseError(`${name}: expected a string or a Uint8Array`);
        if (!isWellFormed(value))
            throw new InvalidError(
                `${name}: the text has half of a surrogate pair, which UTF-8 cannot express`,
            );
        if (value.length > SCRATCH_BYTES / 8) return this.#copy(encoder.encode(value));
        const pointer = this.room(value.length * 3 + 1);
        const { written } = encoder.encodeInto(
            value,
            this.#heap().subarray(pointer, pointer + value.length * 3),
        );
        this.#heap()[pointer + written] = 0;
        return { pointer, length: written };
    }

    #copy(value) {
        const pointer = this.room(value.length + 1);
        this.#heap().set(value, pointer);
        this.#heap()[pointer + value.length] = 0;
        return { pointer, length: value.length };
    }

    /** Puts a string without a NUL into the memory and returns its address; 0 for undefined and null. */
    text(value, name) {
        if (value === undefined || value === null) return 0;
        if (typeof value !== "string") throw new MisuseError(`${name}: expected a string`);
        if (value.includes("\0")) throw new InvalidError(`${name}: the text holds a NUL`);
        return this.bytes(value, name).pointer;
    }

    /** Puts numbers of 64 bits into the memory. */
    slots(values) {
        const pointer = this.room(values.length * 8);
        values.forEach((value, index) => this.#look().setBigInt64(pointer + index * 8, BigInt(value), true));
        return pointer;
    }

    /** Puts numbers of 32 bits into the memory. */
    words(values) {
        const pointer = this.room(Math.max(values.length, 1) * 4);
        values.forEach((value, index) => this.#look().setUint32(pointer + index * 4, value, true));
        return pointer;
    }

    /** A slot of the result, as a number or an address, or exact. */
    out(index) {
        return Number(this.exact(index));
    }

    exact(index) {
        return this.#look().getBigInt64(this.#out + index * 8, true);
    }

    string(pointer) {
        if (pointer === 0) return undefined;
        const heap = this.#heap();
        return this.slice(pointer, heap.indexOf(0, pointer) - pointer);
    }

    slice(pointer, length) {
        try {
            return decoder.decode(this.#heap().subarray(pointer, pointer + length));
        } catch (error) {
            throw new CorruptError("a stored text is not UTF-8", { cause: error });
        }
    }

    /** The text that slots 0 and 1 give to the caller, who frees it; undefined: there is none. */
    takeText() {
        const pointer = this.out(0);
        if (pointer === 0) return undefined;
        try {
            return this.slice(pointer, this.out(1));
        } finally {
            this.free("free_text", pointer);
        }
    }

    // ------------------------------------------------------------------------------------------- errors

    /** Returns a code that is not negative, and throws the error of another. */
    check(code, facts = {}) {
        if (code >= 0) return code;
        const cause = this.#hostError;
        const message = this.string(this.calls.failure()) || "out of memory";
        const version = this.out(0);
        const offset = this.out(2);
        const index = this.out(3);
        throw makeError(code, message, {
            ...facts,
            cause,
            engineCode: this.out(1),
            version: version >= 0 ? version : undefined,
            offset: offset >= 0 ? offset : undefined,
            index: index >= 0 ? index : undefined,
        });
    }
}

let wallOffset = 0;

/**
 * Microseconds since 1970: finer than Date, but never far from it, also after the clock was set or the system
 * slept.
 */
function wall() {
    const now = Date.now();
    const steady = performance.now();
    if (Math.abs(steady + wallOffset - now) > 2) wallOffset = now - steady;
    return (steady + wallOffset) * 1000;
}

/** Waits as a thread does, where that is allowed: not in the thread of a page. */
function sleep(us) {
    try {
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, us / 1000);
    } catch {
        // The caller tries again sooner.
    }
}
