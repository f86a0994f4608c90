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
    readlinkSync,
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

/** The namespace of process ids, where there is one: a container has its own. */
function pidNamespace() {
    try {
        return readlinkSync("/proc/self/ns/pid");
    } catch {
        return "";
    }
}

/** Returns the text by which the lock is known to be ours. The C library reads it, too. */
function takeLock(path) {
    const lock = path + LOCK;
    const text = `${process.pid} ${beginning(process.pid)} ${threadId} ${randomUUID()} ${pidNamespace()}\n`;
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

// ------------------------------------------------------------------------------------------ other programs

/** The namespace of the first processes of the machine, which sees the locks of all others. */
const ALL_PROCESSES = "pid:[4026531836]";
/**
 * Where SQLite locks a file (https://www.sqlite.org/c3ref/c_fcntl_begin_atomic_write.html): PENDING_BYTE and
 * after.
 */
const LOCKED_FROM = 0x40000000;
const LOCKED_BYTES = 512;

/** The process that has SQLite's locks on the file, by /proc/locks; undefined: none. */
function lockingProcess(path) {
    const inode = statSync(path, { bigint: true, throwIfNoEntry: false })?.ino.toString();
    const lines = readFileSync("/proc/locks", "latin1").matchAll(
        /(?:POSIX|OFDLCK)\s+\S+\s+\S+\s+(-?\d+)\s+[0-9a-f]+:[0-9a-f]+:(\d+)\s+(\d+)/g,
    );
    for (const [, pid, locked, from] of lines) {
        const offset = Number(from) - LOCKED_FROM;
        if (locked === inode && offset >= 0 && offset < LOCKED_BYTES) return pid;
    }
    return undefined;
}

/**
 * Throws BUSY if a program with the C library, or with SQLite, has the file open. Where its locks cannot be
 * seen, the index of its log tells: Node's stores have none.
 */
export function refuseOthers(path, seesLocks = pidNamespace() === ALL_PROCESSES) {
    let pid;
    try {
        pid = lockingProcess(path);
    } catch {
        seesLocks = false; // there is no /proc/locks
    }
    if (pid !== undefined)
        throw new BusyError(
            `${path}: process ${pid} has the store open with SQLite's locks, which Node cannot take: close it there`,
        );
    if (!seesLocks && statSync(`${path}-shm`, { throwIfNoEntry: false }))
        throw new BusyError(
            `${path}: ${path}-shm is there, so another program has the store open, or was killed while it had: ` +
                "close it there; if none has it open, open it once with the command (seslite -f FILE migrate), " +
                "which removes that file",
        );
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
        try {
            refuseOthers(resolved);
        } catch (error) {
            this.release(resolved);
            throw error;
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
        if (!found) return undefined;
        const { size, dev: device, ino: inode, nlink: links } = found;
        return { size, device, inode, links, isFile: found.isFile() };
    }
}

export function nodeHost() {
    return new NodeHost();
}
