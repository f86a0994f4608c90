// Stores in the files of a real browser: what is there after a reload, two tabs, and the file by the command.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { Browser, chromium, driver, serve } from "./browser.js";

const here = path.dirname(fileURLToPath(import.meta.url));
const command = process.env.SESLITE_COMMAND;
const skip = !(chromium && driver) && "Chromium and chromedriver are not here";

let server;
let browser;

before(async () => {
    if (skip) return;
    const readme = fs.readFileSync(path.join(here, "node_modules", "seslite", "README.md"), "utf8");
    server = await serve(here, { "/readme": /^```html\n([^]*?)^```$/m.exec(readme)[1] });
    browser = await Browser.start();
});

after(async () => {
    await browser?.stop();
    server?.close();
});

test("a store is opened, written and read from a page", { skip }, async () => {
    await browser.go(server.url);
    const seen = await browser.run(async () => {
        const { open } = await import("/node_modules/seslite/lib/client.js");
        const store = await open("folder/agents.db");
        const key = { app: "app", user: "alice", session: "s1" };
        const session = await store.getOrCreate(key, '{"n":12345678901234567890}');
        const follower = await store.follow({ app: "app", user: "alice" });
        const news = follower.next();
        const { status, timeUs } = await session.append(
            '{"id":"e1","author":"user","content":{"parts":[{"text":"Málaga"}]}}',
        );
        await session.appendBatch(Array.from({ length: 200 }, (_, at) => `{"author":"agent","n":${at}}`));
        const { event } = (await news).value;
        await follower.close();
        const codes = [];
        for (const wrong of [
            () => session.append("{"),
            () => store.get({ ...key, session: "none" }),
            () => store.get(() => {}),
            () => open("folder/agents.db"),
            () => open("none.db", { mustExist: true }),
            () => open("a/../b.db"),
        ])
            await wrong().then(
                () => codes.push("none"),
                (error) => codes.push(`${error.name} ${error.code}`),
            );
        const result = {
            info: await store.info(),
            status,
            time: typeof timeUs,
            state: await session.stateJson(),
            event: event.id,
            codes,
            hits: (await store.search({ app: "app" }, "malaga")).hits.length,
            apps: await store.apps(),
            listed: (await store.listAll("app")).map(({ id }) => id),
            count: (await store.events(key)).length,
            saved: await store.saveArtifact(key, "chart", Uint8Array.of(1, 2, 3), { mimeType: "image/png" }),
            read: [...(await store.readArtifact(key, "chart")).bytes],
            artifacts: (await store.artifacts(key)).map(({ name, mimeType }) => `${name} ${mimeType}`),
            problems: (await store.check()).length,
        };
        window.store = store;
        return result;
    });
    assert.equal(seen.info.journalMode, "wal");
    assert.deepEqual(
        { ...seen, info: undefined },
        {
            info: undefined,
            status: "stored",
            time: "bigint",
            state: '{"n":12345678901234567890}',
            event: "e1",
            hits: 1,
            apps: ["app"],
            listed: ["s1"],
            count: 201,
            saved: 0,
            read: [1, 2, 3],
            artifacts: ["chart image/png"],
            problems: 0,
            codes: [
                "JsonError JSON",
                "NotFoundError NOTFOUND",
                "MisuseError MISUSE",
                "BusyError BUSY",
                "NotFoundError NOTFOUND",
                "CantOpenError CANTOPEN",
            ],
        },
    );
});

/**
 * Opens the store of a page again. The worker of a page that was left ends a moment later, and only then lets
 * go of its files.
 */
const reopen = async (name) => {
    const { open } = await import("/node_modules/seslite/lib/client.js");
    for (let tries = 0; ; tries++) {
        try {
            window.store = await open(name);
            return (await window.store.listAll("app")).map(({ lastSeq }) => lastSeq);
        } catch (error) {
            if (error.code !== "BUSY" || tries === 200) throw error;
            await new Promise((resolve) => setTimeout(resolve, 50));
        }
    }
};

test(
    "after a reload everything is there, and a second tab is told that the store is BUSY",
    { skip },
    async () => {
        await browser.reload();
        assert.deepEqual(await browser.run(reopen, "folder/agents.db"), [201]);
        const first = await browser.current();
        const tryOpen = async () => {
            const { open } = await import("/node_modules/seslite/lib/client.js");
            return open("folder/agents.db").then(
                (store) => store.close().then(() => "open"),
                (error) => error.code,
            );
        };
        await browser.turnTo(await browser.tab());
        await browser.go(server.url);
        assert.equal(await browser.run(tryOpen), "BUSY");
        const second = await browser.current();
        await browser.turnTo(first);
        await browser.run(async () => window.store.close());
        await browser.turnTo(second);
        assert.equal(await browser.run(tryOpen), "open");
        await browser.turnTo(first);
    },
);

test("a page that is left in the middle of appends has lost none that was stored", { skip }, async () => {
    for (const round of [1, 2]) {
        const stored = await browser.run(async (name) => {
            const { open } = await import("/node_modules/seslite/lib/client.js");
            const store = await open(name);
            const key = { app: "app", user: "alice", session: "crash" };
            await store.getOrCreate(key);
            let last = 0;
            const append = async () => {
                for (;;) last = (await store.append(key, '{"author":"user"}')).seq;
            };
            append().catch(() => {});
            while (last < 20) await new Promise((resolve) => setTimeout(resolve, 5));
            return last;
        }, `crash${round}.db`);
        await browser.reload();
        const [there] = await browser.run(reopen, `crash${round}.db`);
        assert.ok(there >= stored, `${there} of ${stored}`);
        await browser.run(async () => window.store.close());
    }
});

test(
    "the file is one for the command, and closing leaves no other",
    { skip: skip || (!command && "the command is not here") },
    async () => {
        const { names, bytes } = await browser.run(async () => {
            const folder = await (await navigator.storage.getDirectory()).getDirectoryHandle("folder");
            const names = [];
            for await (const name of folder.keys()) names.push(name);
            const file = await (await folder.getFileHandle("agents.db")).getFile();
            const reader = new FileReader();
            await new Promise((resolve) => {
                reader.onload = resolve;
                reader.readAsDataURL(file);
            });
            return { names, bytes: reader.result.split(",")[1] };
        });
        assert.deepEqual(names, ["agents.db"]);
        const folder = fs.mkdtempSync(path.join(os.tmpdir(), "seslite-js-"));
        try {
            const file = path.join(folder, "agents.db");
            fs.writeFileSync(file, Buffer.from(bytes, "base64"));
            for (const work of ["check", "export"]) {
                const run = spawnSync(command, ["-f", file, work], { encoding: "utf8" });
                assert.equal(run.status, 0, run.stderr);
                assert.ok(work === "check" || run.stdout.includes("12345678901234567890"));
            }
        } finally {
            fs.rmSync(folder, { recursive: true });
        }
    },
);

test("a store in memory needs no worker", { skip }, async () => {
    await browser.go(server.url);
    const seen = await browser.run(async () => {
        const { open } = await import("/node_modules/seslite/lib/index.js");
        const store = await open(":memory:");
        const session = store.create({ app: "app", user: "alice" }, '{"n":1.0}');
        return session.append('{"author":"user"}').status + session.stateJson();
    });
    assert.equal(seen, 'stored{"n":1.0}');
});

test("the page of the README works", { skip }, async () => {
    await browser.go(`${server.url}readme`);
    assert.equal(
        await browser.run(async () => {
            for (let tries = 0; document.title === "" && tries < 200; tries++)
                await new Promise((resolve) => setTimeout(resolve, 20));
            return document.title;
        }),
        "1",
    );
});
