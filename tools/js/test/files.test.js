// Stores in files of Node: one process at a time, crashes, and the same file by the command.
import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { after, test } from "node:test";
import { fileURLToPath } from "node:url";
import { Worker } from "node:worker_threads";
import * as seslite from "seslite";
import { refuseOthers } from "./node_modules/seslite/lib/host_node.js";

const { open, nodeHost } = seslite;
const command = process.env.SESLITE_COMMAND;
const folder = fs.mkdtempSync(path.join(os.tmpdir(), "seslite-js-"));
const key = { app: "app", user: "alice", session: "s1" };
const event = (at) => `{"id":"e${at}","author":"user","content":{"parts":[{"text":"number ${at}"}]}}`;

after(() => fs.rmSync(folder, { recursive: true }));

let files = 0;
const fresh = () => path.join(folder, `store${++files}.db`);

function native(...args) {
    const run = spawnSync(command, args, { encoding: "utf8" });
    assert.equal(run.status, 0, `${args.join(" ")}: ${run.stderr}`);
    return run.stdout;
}

test("a file is written here and read by the command, and the other way", { skip: !command }, async () => {
    const file = fresh();
    const store = await open(file);
    assert.equal(store.info().journalMode, "wal");
    const session = store.create(key, '{"n":12345678901234567890}');
    session.appendBatch(Array.from({ length: 200 }, (_, at) => event(at)));
    assert.equal(store.index(), 200);
    store.close();
    assert.deepEqual(
        fs.readdirSync(folder).filter((name) => name.startsWith(path.basename(file))),
        [path.basename(file)],
    );
    assert.equal(fs.statSync(file).mode & 0o777, 0o600);
    native("-f", file, "check");
    const lines = native("-f", file, "export");
    assert.ok(lines.includes("12345678901234567890"));

    const again = await open(file);
    assert.equal(again.exportText(), lines);
    again.close();

    const theirs = fresh();
    fs.writeFileSync(`${theirs}.jsonl`, lines);
    native("-f", theirs, "import", `${theirs}.jsonl`);
    const ours = await open(theirs, { mustExist: true });
    assert.equal(ours.get(key).eventCount, 200);
    ours.append(key, event("more"));
    ours.close();
    assert.ok(native("-f", theirs, "export").includes("number more"));
});

// A process that appends, prints the number of each event that is stored, and is killed.
async function appendUntilKilled(file, journal, count) {
    const script = fileURLToPath(new URL("appender.js", import.meta.url));
    const child = spawn(process.execPath, [script, file, journal], { stdio: ["ignore", "pipe", "inherit"] });
    let printed = "";
    child.stdout.setEncoding("utf8");
    for await (const piece of child.stdout) {
        printed += piece;
        if (printed.split("\n").length > count) break;
    }
    child.kill("SIGKILL");
    await (child.exitCode === null && child.signalCode === null ? once(child, "exit") : undefined);
    assert.equal(child.signalCode, "SIGKILL");
    return printed.split("\n").length - 1;
}

for (const journal of ["wal", "rollback"]) {
    test(
        `a process is killed while it appends (${journal}): nothing that was stored is lost`,
        { skip: !command },
        async () => {
            const file = fresh();
            let stored = 0;
            for (const count of [1, 7, 40]) {
                stored += await appendUntilKilled(file, journal, count);
                assert.ok(fs.existsSync(`${file}.js-lock`));
                // opens it for writing, without which a journal is not rolled back
                native("-f", file, "maintain");
                const lines = native("-f", file, "export")
                    .split("\n")
                    .filter((line) => line.includes('"text":"number'));
                assert.ok(lines.length >= stored, `${lines.length} of ${stored} are there`);
                native("-f", file, "check");
                stored = lines.length;
            }
            const store = await open(file); // the lock of a process that is gone
            assert.equal(store.get(key).eventCount, stored);
            store.close();
            assert.equal(fs.existsSync(`${file}.js-lock`), false);
        },
    );
}

test("a killed process leaves a log that is recovered here", async () => {
    const file = fresh();
    const stored = await appendUntilKilled(file, "wal", 20);
    assert.ok(fs.statSync(`${file}-wal`).size > 0);
    const store = await open(file);
    assert.ok(store.get(key).eventCount >= stored);
    store.close();
});

test("a store that is open is BUSY: here, in a thread, in another process", async () => {
    const file = fresh();
    const store = await open(file);
    await assert.rejects(open(file), seslite.BusyError);
    fs.symlinkSync(file, `${file}-link`);
    await assert.rejects(open(`${file}-link`), seslite.BusyError);
    const source = `import { open } from "seslite";
        import { workerData, parentPort } from "node:worker_threads";
        const post = parentPort ? (text) => parentPort.postMessage(text) : console.log;
        open(workerData ?? process.argv[2]).then(() => post("open"), (error) => post(error.code));`;
    const script = path.join(path.dirname(fileURLToPath(import.meta.url)), "opener.tmp.mjs");
    fs.writeFileSync(script, source);
    try {
        const worker = new Worker(script, { workerData: file });
        assert.deepEqual(await once(worker, "message"), ["BUSY"]);
        const run = spawnSync(process.execPath, [script, file], { encoding: "utf8" });
        assert.equal(run.stdout, "BUSY\n", run.stderr);
        store.close();
        assert.equal(spawnSync(process.execPath, [script, file], { encoding: "utf8" }).stdout, "open\n");
    } finally {
        fs.rmSync(script);
    }
    (await open(file)).close(); // the process has ended without closing it
});

test("the command is refused while a store is open here", { skip: !command }, async () => {
    const file = fresh();
    const store = await open(file);
    store.create(key);
    for (const words of [["list"], ["create", "-a", "app", "-u", "alice", "s2"]]) {
        const run = spawnSync(command, ["-f", file, ...words], { encoding: "utf8" });
        assert.notEqual(run.status, 0);
        assert.match(run.stderr, new RegExp(`process ${process.pid} of Node`));
    }
    store.append(key, event(1));
    store.close();
    assert.ok(native("-f", file, "export").includes("number 1"));
});

test("a store is refused while another program has it open", { skip: !command }, async () => {
    const file = fresh();
    native("-f", file, "create", "-a", "app", "-u", "alice", "s1");
    native("-f", file, "append", "s1", "--text", "hello");
    const other = spawn(command, ["-f", file, "tail", "-f", "s1"], { stdio: ["ignore", "pipe", "inherit"] });
    await once(other.stdout, "data");
    await assert.rejects(open(file), seslite.BusyError);
    await assert.rejects(open(file, { readOnly: true }), seslite.BusyError);
    other.kill("SIGKILL");
    await once(other, "exit");
    assert.equal(fs.existsSync(`${file}.js-lock`), false);
    native("-f", file, "migrate"); // which removes what the killed one left
    const store = await open(file);
    store.append(key, event(1));
    store.close();
});

test("where locks cannot be seen, the index of a log tells of another program", async () => {
    const file = fresh();
    (await open(file)).close();
    refuseOthers(file, false);
    fs.writeFileSync(`${file}-shm`, "");
    assert.throws(() => refuseOthers(file, false), /-shm is there/);
    fs.rmSync(`${file}-shm`);
});

test("a lock of an earlier process of the same number, or one cut short, holds nobody up", async () => {
    const file = fresh();
    for (const text of [`${process.pid} ticks:1 0 x\n`, `${process.pid} ms:1 0 x\n`, "", "17"]) {
        fs.writeFileSync(`${file}.js-lock`, text);
        (await open(file)).close();
    }
    assert.deepEqual(
        fs.readdirSync(folder).filter((name) => name.startsWith(`${path.basename(file)}.js-lock`)),
        [],
    );
});

test("a store that nobody has closed is closed once nothing refers to it", async () => {
    const file = fresh();
    await (async () => void (await open(file)).create(key))();
    for (let tries = 0; tries < 200 && fs.existsSync(`${file}.js-lock`); tries++) {
        globalThis.gc();
        await new Promise((resolve) => setTimeout(resolve, 10));
    }
    const store = await open(file);
    assert.equal(store.get(key).id, "s1");
    store.close();
});

test("the write-ahead log is copied into the file as it grows", async () => {
    const file = fresh();
    const store = await open(file, { synchronous: "normal" });
    const session = store.create(key);
    let largest = 0;
    for (let round = 0; round < 40; round++) {
        session.appendBatch(
            Array.from({ length: 100 }, () => `{"author":"a","text":"${"x".repeat(10000)}"}`),
        );
        largest = Math.max(largest, fs.statSync(`${file}-wal`).size);
    }
    assert.ok(fs.statSync(file).size > 35e6 && largest < 24e6, `log ${largest}`);
    store.close();
});

test("a call that fails within WebAssembly ends the store, but not its file", async () => {
    const file = fresh();
    const store = await open(file);
    const session = store.create(key);
    session.append(event(1));
    const fault = new Error("no random bytes");
    crypto.getRandomValues = () => {
        throw fault;
    };
    try {
        assert.throws(
            () => {
                for (;;) store.append(key, '{"author":"needs an id"}');
            },
            (error) => error instanceof seslite.InternalError && error.cause === fault,
        );
    } finally {
        delete crypto.getRandomValues;
    }
    assert.throws(() => store.get(key), seslite.InternalError);
    assert.throws(() => session.append(event(2)), seslite.InternalError);
    session.close();
    store.close();
    const again = await open(file);
    assert.equal(again.events(key).next().value.id, "e1");
    again.close();
});

test("files that are none, cannot be found or only read", async () => {
    await assert.rejects(open(fresh(), { mustExist: true }), seslite.NotFoundError);
    await assert.rejects(open(path.join(folder, "none", "x.db")), seslite.CantOpenError);
    await assert.rejects(open(folder), seslite.CantOpenError);
    const file = fresh();
    fs.writeFileSync(file, "x".repeat(5000));
    await assert.rejects(open(file), seslite.NotAStoreError);
    assert.equal(fs.existsSync(`${file}.js-lock`), false);
    const good = fresh();
    (await open(good)).close();
    const store = await open(good, { readOnly: true });
    assert.throws(() => store.create(key), seslite.ReadOnlyError);
    store.close();
});

// A host of Node whose files fail: `rule(operation)` returns the error to throw.
function failing(rule) {
    const host = nodeHost();
    for (const name of ["open", "read", "write", "truncate", "sync", "size", "delete"]) {
        const work = host[name].bind(host);
        host[name] = (...values) => {
            const error = rule(name);
            if (error) throw error;
            return work(...values);
        };
    }
    return host;
}

test("a disk that is full or fails is an error with its cause, and the store goes on", async () => {
    for (const journal of ["wal", "rollback"]) {
        for (const [name, code, kind] of [
            ["write", "ENOSPC", seslite.FullError],
            ["write", "EIO", seslite.SesliteError],
            ["sync", "EIO", seslite.SesliteError],
            ["size", "EIO", seslite.SesliteError],
            ["read", "EIO", seslite.SesliteError],
        ]) {
            let fails = false;
            const fault = Object.assign(new Error(`no ${name}`), { code });
            const store = await open(fresh(), {
                journal,
                host: failing((operation) => fails && operation === name && fault),
            });
            const session = store.create(key);
            session.append(event(1));
            fails = true;
            if (name === "write" || name === "sync") {
                assert.throws(
                    () => session.append(event(2)),
                    (error) => error instanceof kind && error.cause === fault,
                );
            } else {
                try {
                    session.append(event(2)); // it may need neither
                } catch (error) {
                    assert.ok(error instanceof kind);
                }
            }
            fails = false;
            session.append(event(2)); // once, also where the outcome was unknown
            assert.deepEqual(
                Array.from(store.events(key), (stored) => stored.id),
                ["e1", "e2"],
            );
            store.close();
        }
    }
});

test("a check finds what is wrong in a file, and where", async () => {
    const file = fresh();
    const store = await open(file, { journal: "rollback" });
    store.create(key).appendBatch(Array.from({ length: 5 }, (_, at) => event(at)));
    assert.deepEqual(store.check(), []);
    store.close();
    const bytes = fs.readFileSync(file);
    const at = bytes.indexOf('"id":"e2","author":"user"');
    assert.ok(at > 0);
    bytes.write("X", at + '"id":"e2","author":"'.length);
    fs.writeFileSync(file, bytes);

    const damaged = await open(file);
    const [problem, ...others] = damaged.check();
    assert.deepEqual(others, []);
    assert.deepEqual(
        { ...problem, message: undefined },
        { ...key, kind: "event", seq: 3, message: undefined },
    );
    assert.match(problem.message, /author/);
    assert.deepEqual(damaged.check({ level: "quick", limit: 1 }), []);
    assert.throws(() => damaged.check({ level: "deep" }), seslite.MisuseError);
    damaged.close();
    assert.throws(() => damaged.check(), seslite.MisuseError);
});

test("an export goes on after damage", async () => {
    const file = fresh();
    const store = await open(file);
    for (const session of ["sound", "torn"])
        store.create({ ...key, session }).append(`{"id":"${session}","author":"a"}`);
    store.close();
    const bytes = fs.readFileSync(file);
    const torn = '"id":"torn","author":"a"}';
    bytes[bytes.indexOf(torn) + torn.length - 1] = "]".charCodeAt(0);
    fs.writeFileSync(file, bytes);

    const damaged = await open(file);
    assert.throws(() => damaged.exportText(), seslite.CorruptError);
    assert.throws(() => damaged.exportText({ skip: true }), seslite.MisuseError);
    const leftOut = [];
    const lines = damaged.exportText({ skip: true, leftOut: (why) => void leftOut.push(why) });
    assert.ok(lines.includes("sound") && !lines.includes("torn"));
    assert.equal(leftOut.length, 1);
    assert.ok(leftOut[0] instanceof seslite.CorruptError && leftOut[0].message.includes("torn"));
    const refusal = new Error("the caller's own");
    const refuse = () => {
        throw refusal;
    };
    assert.throws(() => damaged.exportText({ skip: true, leftOut: refuse }), refusal);
    assert.throws(() => damaged.exportText({ leftOut: true }), seslite.MisuseError);
    damaged.close();
});

test("a file with two names is opened only if that is asked for", async () => {
    const file = fresh();
    (await open(file)).close();
    fs.linkSync(file, `${file}.too`);
    await assert.rejects(
        open(file),
        (error) => error.code === "CANTOPEN" && /second name/.test(error.message),
    );
    const store = await open(file, { linked: true });
    store.create(key);
    store.close();
});

test(
    "each operation of opening and appending fails once: the file stays sound",
    { skip: !command },
    async () => {
        let total = Infinity;
        for (let at = 1; at <= total; at += 1 + Math.floor(at / 12)) {
            const file = fresh();
            let done = 0;
            const fault = Object.assign(new Error("it fails once"), { code: "EIO" });
            const host = failing(() => ++done === at && fault);
            try {
                const store = await open(file, { host });
                try {
                    store.getOrCreate(key).append(event(1), { anyway: true });
                    if (done < at) total = done;
                } finally {
                    store.close();
                }
            } catch (error) {
                assert.ok(error instanceof seslite.SesliteError, error);
            }
            const store = await open(file);
            store.getOrCreate(key).append(event(1));
            assert.equal(store.get(key).eventCount, 1);
            store.close();
            native("-f", file, "check");
        }
        assert.ok(total > 20 && total < Infinity);
    },
);
