// Files of Node. Node has no locks on files, so a file next to the store says that a process has it open.
import {
    closeSync,
    fdatasyncSync,
    fstatSync,
    fsyncSync,
    ftruncateSync,
    linkSync,
    openSync,
    readFileSync,
    readSync,
    realpathSync,
    renameSync,
    statSync,
    unlinkSync,
    writeFileSync,
    writeSync,
    constants,
} from "node:fs";
import { randomUUID } from "node:crypto";
import { basename, dirname, join } from "node:path";
import { threadId } from "node:worker_threads";
import { BusyError, CantOpenError, IoError, NotFoundError } from "./errors.js";

const LOCK = ".js-lock";
/** The clocks of two readings of one start may differ by that. */
const START_TOLERANCE_MS = 2000;

// ------------------------------------------------------------------------------------------------- the lock

/**
 * When a process began: in ticks since the system's start where that is to be had, which tells it from an
 * earlier one.
 */
function beginning(pid) {
    try {
        const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
        return `ticks:${stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19]}`;
    } catch {
        return pid === process.pid ? `ms:${Math.round(performance.timeOrigin)}` : undefined;
    }
}

function isSameBeginning(left, right) {
    if (left.startsWith("ms:") && right.startsWith("ms:"))
        return Math.abs(Number(left.slice(3)) - Number(right.slice(3))) <= START_TOLERANCE_MS;
    return left === right;
}

function isAlive(pid) {
    try {
        process.kill(pid, 0);
        return true;
    } catch (error) {
        return error.code === "EPERM";
    }
}

/**
 * Whether the process that wrote the lock still runs. A text that is none was cut short by a power failure.
 */
function isHeld(text) {
    const [pid, begun] = text.split(" ");
    if (!/^\d+$/.test(pid) || begun === undefined || !isAlive(Number(pid))) return false;
    const now = beginning(Number(pid));
    return now === undefined || isSameBeginning(now, begun);
}

function readLock(path) {
    try {
        return readFileSync(path, "utf8");
    } catch (error) {
        if (error.code === "ENOENT") return undefined;
        throw error;
    }
}

/**
 * Takes a lock that nobody holds out of the way. It is moved first, and looked at again: another may have
 * been faster.
 */
function removeStale(lock, text) {
    const aside = `${lock}-${randomUUID()}`;
    try {
        renameSync(lock, aside);
    } catch (error) {
        if (error.code === "ENOENT") return;
        throw error;
    }
    if (readLock(aside) !== text) putBack(aside, lock);
    unlinkSync(aside);
}

function putBack(aside, lock) {
    try {
        linkSync(aside, lock);
    } catch (error) {
        if (error.code !== "EEXIST") throw error;
    }
}

/** Makes the lock at once with its text, by a link, or fails with EEXIST. */
function makeLock(lock, text) {
    const fresh = `${lock}-${randomUUID()}`;
    writeFileSync(fresh, text, { mode: 0o600, flag: "wx" });
    try {
        linkSync(fresh, lock);
    } finally {
        unlinkSync(fresh);
    }
}

/** Returns the text by which the lock is known to be ours. */
function takeLock(path) {
    const lock = path + LOCK;
    const text = `${process.pid} ${beginning(process.pid)} ${threadId} ${randomUUID()}\n`;
    for (let tries = 0; tries < 10; tries++) {
        try {
            makeLock(lock, text);
            return text;
        } catch (error) {
            if (error.code !== "EEXIST") throw error;
        }
        const there = readLock(lock);
        if (there !== undefined && isHeld(there))
            throw new BusyError(`${path}: process ${there.split(" ")[0]} has the store open (${lock})`);
        if (there !== undefined) removeStale(lock, there);
    }
    throw new BusyError(`${path}: other processes are opening the store`);
}

function dropLock(path, text) {
    if (readLock(path + LOCK) === text) unlinkSync(path + LOCK);
}

// ------------------------------------------------------------------------------------------------ the files

/** The path without links; of a file that does not exist, that of its folder. */
function resolve(path) {
    try {
        return realpathSync(path);
    } catch (error) {
        if (error.code !== "ENOENT") throw new CantOpenError(`${path}: ${error.message}`, { cause: error });
    }
    try {
        return join(realpathSync(dirname(path)), basename(path));
    } catch (error) {
        throw new CantOpenError(`${path}: cannot create the file: ${error.message}`, { cause: error });
    }
}

function syncFolder(path) {
    if (process.platform === "win32") return; // where a folder cannot be opened
    const folder = openSync(dirname(path), constants.O_RDONLY);
    try {
        fsyncSync(folder);
    } finally {
        closeSync(folder);
    }
}

class NodeHost {
    #files = new Map(); // path by descriptor, for the folder that is flushed
    #locks = new Map();

    acquire(path, { readOnly, mustExist }) {
        const resolved = resolve(path);
        const found = this.stat(resolved);
        if (!found && (readOnly || mustExist)) throw new NotFoundError(`${path}: there is no such file`);
        if (found && !found.isFile) throw new CantOpenError(`${path}: this is not a regular file`);
        try {
            this.#locks.set(resolved, takeLock(resolved));
        } catch (error) {
            throw error instanceof BusyError
                ? error
                : new CantOpenError(`${path}: ${error.message}`, { cause: error });
        }
        return resolved;
    }

    release(path) {
        const text = this.#locks.get(path);
        if (text === undefined) return;
        this.#locks.delete(path);
        try {
            this.#closeLeft(path);
            dropLock(path, text);
        } catch (error) {
            throw new IoError(`${path}${LOCK}: ${error.message}`, { cause: error });
        }
    }

    /** SQLite has closed its files, unless a call failed within WebAssembly. */
    #closeLeft(path) {
        for (const [descriptor, name] of this.#files) {
            if (name === path || name === `${path}-wal` || name === `${path}-journal`) this.close(descriptor);
        }
    }

    open(path, { write, create, exclusive }) {
        const flags =
            (write ? constants.O_RDWR : constants.O_RDONLY) |
            (create ? constants.O_CREAT : 0) |
            (exclusive ? constants.O_EXCL : 0);
        const descriptor = openSync(path, flags, 0o600);
        this.#files.set(descriptor, path);
        return descriptor;
    }

    close(descriptor) {
        this.#files.delete(descriptor);
        closeSync(descriptor);
    }

    read(descriptor, bytes, offset) {
        let done = 0;
        while (done < bytes.length) {
            const count = readSync(descriptor, bytes, done, bytes.length - done, offset + done);
            if (count === 0) break;
            done += count;
        }
        return done;
    }

    write(descriptor, bytes, offset) {
        for (let done = 0; done < bytes.length;)
            done += writeSync(descriptor, bytes, done, bytes.length - done, offset + done);
    }

    truncate(descriptor, size) {
        ftruncateSync(descriptor, size);
    }

    sync(descriptor, folder) {
        fdatasyncSync(descriptor);
        if (folder) syncFolder(this.#files.get(descriptor));
    }

    size(descriptor) {
        return fstatSync(descriptor).size;
    }

    delete(path, sync) {
        unlinkSync(path);
        if (sync) syncFolder(path);
    }

    stat(path) {
        const found = statSync(path, { bigint: true, throwIfNoEntry: false });
        return found && { size: found.size, device: found.dev, inode: found.ino, isFile: found.isFile() };
    }
}

export function nodeHost() {
    return new NodeHost();
}
