// Files in the browser's own file system (OPFS), in a dedicated worker. Handles there are opened
// asynchronously, so `acquire` opens those that SQLite may ask for: the file, its journal and its write-ahead
// log. The browser gives each to one only.
import { BusyError, CantOpenError, MisuseError, NotFoundError } from "./errors.js";

const SUFFIXES = ["", "-wal", "-journal"];

async function folderOf(path) {
    const names = path.split("/").filter((name) => name !== "");
    const name = names.pop();
    if (name === undefined || name === "." || name === ".." || names.includes(".") || names.includes(".."))
        throw new CantOpenError(`${path}: this is not a path of a file`);
    let folder = await navigator.storage.getDirectory();
    for (const step of names) folder = await folder.getDirectoryHandle(step, { create: true });
    return { folder, name };
}

/** The handle of a file, or undefined if the file is not there. */
async function find(folder, name) {
    try {
        return await folder.getFileHandle(name);
    } catch (error) {
        if (error.name === "NotFoundError") return undefined;
        throw error;
    }
}

class OpfsHost {
    #files = new Map(); // by path
    #handles = []; // by number
    #folders = new Map();

    async acquire(path, { readOnly, mustExist }) {
        if (typeof FileSystemSyncAccessHandle === "undefined")
            throw new MisuseError(
                "files of the browser can only be used in a dedicated worker: see seslite/client",
            );
        if (this.#folders.has(path)) throw new BusyError(`${path}: the store is open here`);
        try {
            const { folder, name } = await folderOf(path);
            if ((readOnly || mustExist) && !(await find(folder, name)))
                throw new NotFoundError(`${path}: there is no such file`);
            await this.#openAll(path, folder, name);
            return path;
        } catch (error) {
            await this.release(path);
            if (error.name === "NoModificationAllowedError")
                throw new BusyError(`${path}: another page has the store open`, { cause: error });
            throw error instanceof DOMException
                ? new CantOpenError(`${path}: ${error.message}`, { cause: error })
                : error;
        }
    }

    async #openAll(path, folder, name) {
        const opened = [];
        this.#folders.set(path, { folder, name, opened });
        for (const suffix of SUFFIXES) {
            const file = await folder.getFileHandle(name + suffix, { create: true });
            const access = await file.createSyncAccessHandle();
            opened.push(suffix);
            // An empty file is one that SQLite has deleted, or has not made yet.
            this.#files.set(path + suffix, { access, exists: access.getSize() > 0 });
        }
    }

    /** Closes the files, and removes those that are empty. */
    async release(path) {
        const held = this.#folders.get(path);
        if (!held) return;
        this.#folders.delete(path);
        for (const suffix of held.opened) {
            const { access } = this.#files.get(path + suffix);
            this.#files.delete(path + suffix);
            const isEmpty = access.getSize() === 0;
            access.close();
            // It fails if another page has opened the file by now.
            if (isEmpty) await held.folder.removeEntry(held.name + suffix).catch(() => {});
        }
    }

    #file(path) {
        const file = this.#files.get(path);
        if (!file) throw new Error(`${path}: SQLite asks for a file that is not open`);
        return file;
    }

    open(path, { create, exclusive }) {
        const file = this.#file(path);
        if (!file.exists && !create)
            throw Object.assign(new Error(`${path}: no such file`), { code: "ENOENT" });
        if (file.exists && exclusive)
            throw Object.assign(new Error(`${path}: the file exists`), { code: "EEXIST" });
        file.exists = true;
        let handle = this.#handles.indexOf(undefined);
        if (handle < 0) handle = this.#handles.length;
        this.#handles[handle] = file;
        return handle;
    }

    close(handle) {
        this.#handles[handle] = undefined;
    }

    read(handle, bytes, offset) {
        return this.#handles[handle].access.read(bytes, { at: offset });
    }

    write(handle, bytes, offset) {
        const count = this.#handles[handle].access.write(bytes, { at: offset });
        if (count < bytes.length)
            throw Object.assign(new Error(`only ${count} of ${bytes.length} bytes were written`), {
                code: "ENOSPC",
            });
    }

    truncate(handle, size) {
        this.#handles[handle].access.truncate(size);
    }

    sync(handle) {
        this.#handles[handle].access.flush();
    }

    size(handle) {
        return this.#handles[handle].access.getSize();
    }

    delete(path) {
        const file = this.#file(path);
        file.access.truncate(0);
        file.access.flush();
        file.exists = false;
    }

    stat(path) {
        const file = this.#files.get(path);
        return file?.exists ? { size: file.access.getSize(), device: 1, inode: 1 } : undefined;
    }
}

export function opfsHost() {
    return new OpfsHost();
}
