// Sessions, events and state, in memory: that values go in and come out exactly, and what goes wrong.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import fs from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { test } from "node:test";
import * as seslite from "seslite";

const { open } = seslite;
const key = { app: "app", user: "alice", session: "s1" };

async function withStore(work, options) {
    const store = await open(":memory:", options);
    try {
        return await work(store);
    } finally {
        await store.close();
    }
}

const user = (text, more = "") =>
    `{"author":"user","content":{"parts":[{"text":${JSON.stringify(text)}}]}${more}}`;

test("the package has the version of the library, and what it exports is there", () =>
    withStore((store) => {
        const require = createRequire(import.meta.url);
        const file = require.resolve("seslite/package.json");
        const { version, exports } = require(file);
        assert.equal(store.info().version, version);
        const targets = (found) =>
            typeof found === "string" ? [found] : Object.values(found).flatMap(targets);
        for (const target of targets(exports))
            assert.ok(fs.existsSync(path.join(path.dirname(file), target)), target);
    }));

test("a session shows its state and the events that were appended", () =>
    withStore((store) => {
        const session = store.create(
            key,
            '{"app:theme":"dark","user:lang":"en","topic":"start","temp:x":1}',
            {
                title: "A title",
                labels: { kind: "test", ["__proto__"]: "a name like any other" },
            },
        );
        assert.equal(session.stateJson(), '{"app:theme":"dark","user:lang":"en","topic":"start"}');
        const result = session.append(
            '{"id":"e1","timestamp":1700000000.25,"author":"user","invocationId":"i1",' +
                '"actions":{"stateDelta":{"topic":"travel","temp:seen":true}}}',
            { delta: '{"user:lang":"fr"}', labels: { kind: null } },
        );
        assert.deepEqual(result, {
            status: "stored",
            seq: 1,
            version: 1,
            timeUs: 1700000000250000n,
            updatedUs: result.updatedUs,
            madeId: undefined,
        });
        assert.equal(
            session.stateJson(),
            '{"app:theme":"dark","user:lang":"fr","topic":"travel","temp:seen":true}',
        );
        assert.equal(session.stateGet("topic"), '"travel"');
        assert.equal(session.stateGet("none"), undefined);
        assert.deepEqual(session.events(), [
            {
                seq: 1,
                timeUs: 1700000000250000n,
                id: "e1",
                invocationId: "i1",
                author: "user",
                branch: undefined,
                json:
                    '{"id":"e1","timestamp":1700000000.25,"author":"user","invocationId":"i1",' +
                    '"actions":{"stateDelta":{"topic":"travel","user:lang":"fr"}}}',
            },
        ]);
        const facts = session.facts();
        assert.equal(facts.title, "A title");
        assert.deepEqual(Object.entries(facts.labels), [["__proto__", "a name like any other"]]);
        assert.equal(JSON.parse(session.json()).id, "s1");
    }));

test("JSON keeps its bytes: large integers, escapes, white space, characters outside the plane", () =>
    withStore((store) => {
        const session = store.create(key);
        const values = [
            "12345678901234567890",
            "1.0",
            "1e400",
            "0.1000",
            '"\\u00e9 \\ud83d\\ude00 \u{1F600} \ufeff"',
            "[1 , 2]",
            '"\\u0000"',
            '"\\ud800"',
        ];
        values.forEach((value, index) =>
            session.append(`{"author":"a","actions":{"stateDelta":{"k${index}":${value}}}}`),
        );
        store.append(key, new TextEncoder().encode('  {"id":"bytes","timestamp":5,"n":9007199254740993}\n'));
        session.refresh();
        values.forEach((value, index) => assert.equal(session.stateGet(`k${index}`), value));
        assert.equal(session.events().at(-1).json, '  {"id":"bytes","timestamp":5,"n":9007199254740993}\n');
        assert.equal([...store.events(key)].length, values.length + 1);
    }));

test("an event of a megabyte, and a thousand in one batch", () =>
    withStore((store) => {
        const session = store.create(key);
        const long = "é".repeat(1 << 19);
        session.append(user(long));
        assert.equal(JSON.parse(session.event(0).json).content.parts[0].text, long);
        const results = session.appendBatch(
            Array.from({ length: 1000 }, (_, at) => `{"id":"b${at}","author":"x"}`),
        );
        assert.equal(results.at(-1).seq, 1001);
        assert.equal(new Set(results.map((result) => result.status)).size, 1);
        assert.equal(
            store
                .get(key, { range: { newest: 3 } })
                .events()
                .map((event) => event.id)
                .join(),
            "b997,b998,b999",
        );
        assert.equal(store.get(key, { range: { firstSeq: 2, lastSeq: 4 } }).eventCount, 3);
        assert.equal(store.get(key, { range: { none: true } }).eventCount, 0);
    }));

test("a partial event is not stored, and a repeated one once", () =>
    withStore((store) => {
        const session = store.create(key);
        assert.equal(session.append('{"author":"a","partial":true}').status, "partial");
        const event = '{"id":"e","timestamp":1,"author":"a"}';
        assert.equal(session.append(event).status, "stored");
        assert.equal(session.append(event).status, "duplicate");
        assert.throws(() => session.append('{"id":"e","timestamp":1,"author":"b"}'), seslite.ExistsError);
        assert.equal(session.eventCount, 1);
    }));

test("an outdated session is STALE with the version, and catches up", () =>
    withStore((store) => {
        const one = store.create(key);
        const other = store.get(key);
        one.append(user("first"));
        assert.throws(
            () => other.append(user("second")),
            (error) =>
                error instanceof seslite.StaleError &&
                error.code === "STALE" &&
                error.version === 1 &&
                error.name === "StaleError",
        );
        assert.equal(other.append(user("second"), { anyway: true }).seq, 2);
        assert.equal(other.eventCount, 2);
        assert.throws(() => store.append(key, user("third"), { version: 1 }), seslite.StaleError);
        assert.equal(store.append(key, user("third"), { version: 2 }).version, 3);
    }));

test("a shared value that has changed in the meantime is STALE", () =>
    withStore((store) => {
        const session = store.create(key, '{"user:n":1}');
        session.append(user("a"), { expected: '{"user:n":1}', delta: '{"user:n":2}' });
        assert.throws(
            () => session.append(user("b"), { expected: '{"user:n":1}', delta: '{"user:n":3}' }),
            seslite.StaleError,
        );
        store.changeSharedState("app", "alice", '{"n":7}', { expected: '{"n":2}' });
        assert.equal(store.sharedStateJson("app", "alice"), '{"n":7}');
        assert.equal(store.sharedStateJson("app"), "{}");
    }));

test("sessions are listed page by page, with filters", () =>
    withStore((store) => {
        for (let at = 0; at < 25; at++)
            store
                .create(
                    { app: "app", user: at % 2 ? "bob" : "alice", session: `s${at}` },
                    `{"n":${at}}`,
                    at < 5 ? { labels: { few: "1" } } : undefined,
                )
                .close();
        const first = store.list("app", undefined, { limit: 10, order: "created" });
        assert.deepEqual(
            first.sessions.map((session) => session.id),
            Array.from({ length: 10 }, (_, at) => `s${at}`),
        );
        assert.equal(first.sessions[3].stateJson, '{"n":3}');
        const second = store.list("app", undefined, {
            limit: 10,
            order: "created",
            token: first.token,
            state: false,
        });
        assert.equal(second.sessions[0].id, "s10");
        assert.equal(second.sessions[0].stateJson, undefined);
        assert.equal([...store.listAll("app", "bob", { limit: 5 })].length, 12);
        assert.equal(store.count("app", undefined, { label: "few" }), 5);
        assert.equal(store.count("app", undefined, { withoutLabel: "few" }), 20);
        const parent = { user: "alice", session: "s0" };
        const child = store.create({ app: "app", user: "alice", session: "sub" }, undefined, {
            childOf: parent,
        });
        assert.equal(child.facts().kind, "child");
        assert.deepEqual(child.facts().childOf, { app: "app", ...parent });
        assert.equal(store.count("app", undefined, { kinds: ["child", "memory"] }), 1);
        assert.throws(() => store.count("app", undefined, { kinds: ["other"] }), seslite.MisuseError);
        assert.equal(store.count("app", undefined, { childOf: parent }), 1);
        const [relative] = store.family({ app: "app", user: "alice", session: "s0" });
        assert.deepEqual([relative.relation, relative.key.session, relative.seq], ["child", "sub", 0]);
        child.setArchived();
        assert.equal(typeof child.facts().archivedUs, "bigint");
        assert.equal(store.count("app", undefined, { archived: true }), 1);
        child.setArchived(false);
        assert.equal(child.facts().archivedUs, undefined);
        assert.equal(store.count("app", undefined, { archived: false }), 26);
        assert.equal(store.delete({ app: "app", user: "alice", session: "sub" }), true);
        assert.deepEqual([...store.apps()], ["app"]);
        assert.deepEqual([...store.users("app")], ["alice", "bob"]);
        assert.equal(store.delete({ app: "app", user: "alice", session: "s0" }), true);
        assert.equal(store.delete({ app: "app", user: "alice", session: "s0" }), false);
        assert.deepEqual(store.deleteUser("app", "bob"), { sessions: 12, stateKeys: 0 });
    }));

test("sessions are listed by when they were written", () =>
    withStore(async (store) => {
        for (const [session, time] of [
            ["ahead", 4e9],
            ["behind", 1],
        ]) {
            store.create({ ...key, session }).append(`{"author":"a","timestamp":${time}}`);
            await new Promise((resolve) => setTimeout(resolve, 5));
        }
        const listed = (order) => store.list("app", "alice", { order }).sessions;
        const ids = (order) => listed(order).map(({ id }) => id);
        assert.deepEqual(ids("newest"), ["ahead", "behind"]);
        assert.deepEqual(ids("changed"), ["behind", "ahead"]);
        const [last, first] = listed("changed").map(({ changedUs }) => changedUs);
        assert.ok(last > first && last <= BigInt(Date.now() + 1000) * 1000n, `${last} ${first}`);
        assert.equal(store.count("app", "alice", { changedSince: last }), 1);
        assert.equal(store.count("app", "alice", { changedSince: first, changedBefore: last }), 1);
        assert.throws(() => ids("written"), seslite.MisuseError);
    }));

test("a fork expires when its session does, unless it is told otherwise", () =>
    withStore((store) => {
        const soon = BigInt(Date.now() + 3600000) * 1000n;
        const session = store.create(key, "{}", { expiresUs: soon });
        const expires = (options) => session.fork("now", options).facts().expiresUs;
        assert.equal(expires(), soon);
        assert.equal(expires({ expiresUs: soon + 1n }), soon + 1n);
        assert.equal(expires({ expiresUs: null }), undefined);
    }));

test("rewind, redo, cut, fork, and the state at a point", () =>
    withStore((store) => {
        const session = store.create(key, '{"n":0}');
        for (let at = 1; at <= 3; at++)
            session.append(
                `{"id":"e${at}","invocationId":"i${at}","author":"user","content":{"parts":[{"text":"t"}]},` +
                    `"actions":{"stateDelta":{"n":${at}}}}`,
            );
        assert.equal(session.stateAsOf({ seq: 1 }), '{"n":1}');
        assert.equal(session.rewind({ event: "e1" }).status, "stored");
        assert.equal(session.stateGet("n"), "1");
        assert.equal(store.get(key, { range: { live: true } }).eventCount, 1);
        session.redo();
        assert.equal(session.stateGet("n"), "3");
        assert.equal(session.redo().status, "unchanged");
        const fork = session.fork({ invocation: "i3" }, { session: "fork" });
        assert.deepEqual(fork.facts().parent, { ...key, seq: 2 });
        assert.equal(fork.stateJson(), '{"n":2}');
        assert.equal(fork.rewind("lastTurn").status, "stored");
        assert.equal(session.cut({ seq: 2 }), 3);
        assert.equal(session.stateGet("n"), "2");
        assert.throws(() => session.cut({ event: "nowhere" }), seslite.NotFoundError);
    }));

test("pop returns what it deletes, and prune deletes the oldest", () =>
    withStore((store) => {
        let session = store.create(key, '{"n":0}');
        for (let at = 1; at <= 6; at++)
            session.append(
                `{"id":"e${at}","author":"user","invocationId":"i${at}","actions":{"stateDelta":{"n":${at}}}}`,
            );
        assert.deepEqual(
            session.pop({ seq: 4 }).map(({ id, seq }) => [id, seq]),
            [
                ["e5", 5],
                ["e6", 6],
            ],
        );
        assert.equal(session.stateGet("n"), "4");
        assert.deepEqual(session.pop("now"), []);
        const behind = store.get(key);
        assert.equal(session.pop({ event: "e3" }, { secure: true })[0].id, "e4");
        assert.throws(() => behind.pop({ seq: 1 }), seslite.StaleError);

        session = store.get(key);
        assert.equal(session.pop({ seq: 2 })[0].id, "e3");
        assert.deepEqual(session.prune({ keep: 2 }), { deleted: 0, more: false });
        assert.deepEqual(session.prune({ keep: 1 }), { deleted: 1, more: false });
        assert.equal(session.stateAsOf({ seq: 1 }), '{"n":1}');
        assert.deepEqual(session.prune({ before: 0 }), { deleted: 0, more: false });
        assert.deepEqual(session.prune({ lastSeq: 2, limit: 1, secure: true }), { deleted: 1, more: false });
        assert.equal(session.stateGet("n"), "2");
        assert.throws(() => session.prune({}), seslite.InvalidError);
        assert.throws(() => session.prune({ keep: 0.5 }), seslite.MisuseError);
        assert.throws(() => session.prune({ kept: 1 }), seslite.MisuseError);
        assert.deepEqual(store.check(), []);
    }));

test("artifacts have versions, and come out as they went in", () =>
    withStore((store) => {
        store.create(key);
        const png = Uint8Array.from({ length: 3_000_000 }, (_, at) => (at * 7919) >> 3);
        const options = { mimeType: "image/png", displayName: "A chart", metadata: '{"a": 1.0}' };
        assert.equal(store.saveArtifact(key, "chart.png", png, options), 0);
        assert.equal(store.saveArtifact(key, "chart.png", new Uint8Array(0)), 1);
        assert.equal(store.saveArtifact(key, "notes", "Málaga\0"), 0);
        assert.equal(store.saveArtifact({ app: "app", user: "alice" }, "mine", "x"), 0);

        const { bytes, ...info } = store.readArtifact(key, "chart.png", { version: 0 });
        assert.deepEqual(bytes, png);
        assert.deepEqual(info, {
            ...options,
            name: "chart.png",
            version: 0,
            createdUs: info.createdUs,
            size: png.length,
            kind: "bytes",
            hash: createHash("sha256").update(png).digest("hex"),
            uri: "artifact://apps/app/users/alice/sessions/s1/artifacts/chart.png/versions/0",
        });
        assert.equal(store.readArtifact(key, "chart.png").bytes.length, 0);
        const notes = store.readArtifact(key, "notes");
        assert.deepEqual([notes.kind, new TextDecoder().decode(notes.bytes)], ["text", "Málaga\0"]);
        assert.equal(store.saveArtifact(key, "again", info.uri, { kind: "uri" }), 0);
        assert.equal(store.readArtifact(key, "again").size, png.length);

        assert.deepEqual(
            [...store.artifacts(key)].map(({ name, version }) => [name, version]),
            [
                ["again", 0],
                ["chart.png", 1],
                ["notes", 0],
                ["user:mine", 0],
            ],
        );
        assert.deepEqual(
            [...store.artifacts({ app: "app", user: "alice" })].map(({ name }) => name),
            ["user:mine"],
        );
        assert.deepEqual(
            [...store.artifactVersions(key, "chart.png")].map(({ size }) => size),
            [png.length, 0],
        );
        assert.deepEqual(store.check(), []);
        assert.equal(store.deleteArtifact(key, "chart.png", { secure: true }), 2);
        assert.equal(store.deleteArtifact(key, "chart.png"), 0);
        assert.throws(() => store.readArtifact(key, "chart.png"), seslite.NotFoundError);
        for (let at = 0; at < 250; at++) store.saveArtifact(key, "many", `${at}`);
        assert.equal([...store.artifactVersions(key, "many")].length, 250);
        for (let at = 0; at < 120; at++) store.saveArtifact(key, `n${at}`, "x");
        assert.equal([...store.artifacts(key)].length, 124);

        assert.throws(() => store.saveArtifact(key, "x"), seslite.MisuseError);
        assert.throws(() => store.saveArtifact(key, 1, "x"), seslite.MisuseError);
        assert.throws(() => store.saveArtifact(key, "", "x"), seslite.InvalidError);
        assert.throws(() => store.saveArtifact(key, "x", "x", { kind: "file" }), seslite.MisuseError);
        assert.throws(() => store.saveArtifact(key, "x", "x", { metadata: "{" }), seslite.JsonError);
        assert.throws(() => store.saveArtifact({ ...key, session: "none" }, "x", "x"), seslite.NotFoundError);
        const walk = store.artifacts(key);
        walk.next();
        store.close();
        assert.throws(() => [...walk], seslite.MisuseError);
        assert.throws(() => store.readArtifact(key, "notes"), seslite.MisuseError);
    }));

test("a search finds words, without an index and with one", () =>
    withStore((store) => {
        const session = store.create(key);
        session.append(user("The quick brown fox"));
        session.append(user("🦊 jumps over the Füchse"));
        const found = store.search({ app: "app" }, "fuchse", { snippetBytes: 100 });
        assert.equal(found.indexed, false);
        assert.equal(found.hits[0].seq, 2);
        assert.equal(found.hits[0].snippet.slice(found.hits[0].snippetFound), "Füchse");
        assert.equal(store.index(), 2);
        assert.equal(store.search(key, "brown quick").indexed, true);
        assert.equal(store.search(key, "brown quick", { phrase: true }).hits.length, 0);
        const page = store.search(key, "the", { limit: 1 });
        assert.equal(store.search(key, "the", { limit: 1, token: page.token }).hits[0].seq, 1);
    }));

test("events are redacted by number, and where a text occurs", () =>
    withStore((store) => {
        const secret = "sk-4711";
        const session = store.create(key);
        for (const n of [1, 2])
            session.append(
                `{"author":"user","content":{"parts":[{"text":"a ${secret}, ${secret}"}]},"actions":{"stateDelta":{"k${n}":"${secret}"}}}`,
            );
        const log = () => [...store.events(key)].map((event) => event.json).join("\n");
        const counted = store.redact(key, [1], { count: true });
        assert.deepEqual([counted.events, counted.stateLeft, counted.forksLeft], [1, 1, 0]);
        assert.equal(store.redact(key, [], {}).events, 0);
        assert.ok(log().includes(secret));
        const found = store.redact(key, [2], { find: secret });
        assert.deepEqual([found.events, found.stateKeys], [1, 0]);
        assert.ok(log().includes("a [redacted], [redacted]"));
        const erased = store.redact(key, undefined, { state: true, secure: true, text: "gone" });
        assert.deepEqual([erased.events, erased.stateKeys, erased.more], [2, 2, false]);
        assert.ok(!log().includes(secret));
        assert.throws(() => store.redact(key, [3]), seslite.NotFoundError);
        assert.throws(() => store.redact(key, [1], { version: 1 }), seslite.StaleError);
        assert.throws(() => store.redact(key, [1], { find: "" }), seslite.InvalidError);
        assert.throws(() => store.redact(key, 1), seslite.MisuseError);
    }));

test("names in which a text occurs are removed if that is asked for", () =>
    withStore((store) => {
        const session = store.create(key, '{"of sk-4711":1,"n":2}', { title: "sk-4711" });
        const counted = store.redact(key, undefined, { find: "sk-4711", state: true });
        assert.deepEqual([counted.names, counted.namesLeft, counted.derivedLeft], [0, 2, 0]);
        const erased = store.redact(key, undefined, { find: "sk-4711", state: true, names: true });
        assert.deepEqual([erased.names, erased.namesLeft], [2, 0]);
        session.refresh();
        assert.deepEqual([session.stateJson(), session.facts().title], ['{"n":2}', undefined]);
        assert.throws(() => store.redact(key, undefined, { names: true }), seslite.MisuseError);
    }));

test("a text is found wherever it is", () =>
    withStore((store) => {
        const session = store.create(key, '{"k":"é sk-4711"}', { title: "é sk-4711" });
        for (let at = 1; at <= 250; at++) session.append(user("sk-4711"));
        store.saveArtifact(key, "a.bin", Uint8Array.from([255, ...Buffer.from("sk-4711")]));
        const all = [...store.find({}, "sk-4711")];
        assert.deepEqual(all[0], {
            kind: "title",
            ...key,
            name: undefined,
            seq: undefined,
            version: undefined,
            text: "é sk-4711",
            textFound: 2,
        });
        assert.deepEqual(
            all.map(({ kind, name, seq, version }) => [kind, name, seq, version]),
            [
                ["title", undefined, undefined, undefined],
                ["value", "k", undefined, undefined],
                ["initial", "k", undefined, undefined],
                ["bytes", "a.bin", undefined, 0],
                ...Array.from({ length: 250 }, (_, at) => ["event", undefined, at + 1, undefined]),
            ],
        );
        assert.deepEqual([all[3].text, all[3].textFound], [undefined, undefined]);
        assert.deepEqual([...store.find(key, "SK-4711", { ignoreCase: true })], all);
        assert.deepEqual([...store.find({ app: "app" }, "SK-4711")], []);
        assert.throws(() => [...store.find({ ...key, session: "none" }, "x")], seslite.NotFoundError);
        assert.throws(() => [...store.find({ session: "s1" }, "x")], seslite.MisuseError);
        assert.throws(() => [...store.find({}, "")], seslite.InvalidError);
        const walk = store.find({}, "sk-4711");
        walk.next();
        store.close();
        assert.throws(() => [...walk], seslite.MisuseError);
    }));

test("artifacts come back into events for programs that do not read them", () =>
    withStore((store) => {
        store.create(key);
        const version = store.saveArtifact(key, "a.bin", new Uint8Array(6));
        const { uri } = store.readArtifact(key, "a.bin", { version });
        const event = `{"content":{"parts":[{"fileData":{"fileUri":"${uri}","mimeType":"image/png"}}]}}`;
        const { parts } = JSON.parse(store.inlineArtifacts(key, event)).content;
        assert.deepEqual(parts, [{ inlineData: { mimeType: "image/png", data: "AAAAAAAA" } }]);
        assert.equal(store.inlineArtifacts(key, event, { bytes: 5 }), undefined);
        assert.equal(store.inlineArtifacts(key, "{}"), undefined);
        assert.throws(() => store.inlineArtifacts(key, "{"), seslite.JsonError);
        assert.throws(() => store.inlineArtifacts(key, event, { bytes: -1 }), seslite.InvalidError);
    }));

test("usage is added up, without a tally and with one", () =>
    withStore((store) => {
        const call = (second, model, counts) =>
            `{"timestamp":${second},"modelVersion":"${model}","usageMetadata":${JSON.stringify(counts)}}`;
        store.create(key).append(call(1, "m1", { promptTokenCount: 10, totalTokenCount: 15 }));
        store.append(key, call(86399, "m2", { promptTokenCount: 100, cachedContentTokenCount: 60 }));
        store.append(key, call(86400, "m1", { promptTokenCount: -1 }));
        for (const events of [3, 0]) {
            const { rows, sum, token } = store.usage({ app: "app" }, { by: ["day", "model"] });
            assert.deepEqual(
                rows.map((row) => [row.day, row.model, row.calls, row.prompt, row.cached, row.odd]),
                [
                    ["1970-01-01", "m1", 1, 10, 0, 0],
                    ["1970-01-01", "m2", 1, 100, 60, 0],
                    ["1970-01-02", "m1", 1, 0, 0, 1],
                ],
            );
            assert.deepEqual([rows[0].app, rows[0].lastUs, token], [undefined, 1000000n, undefined]);
            assert.deepEqual([sum.calls, sum.prompt, sum.total], [3, 110, 15]);
            assert.equal(store.tally(), events);
        }
        const page = store.usage({}, { by: ["model"], limit: 1 });
        assert.equal(store.usage({}, { by: ["model"], limit: 1, token: page.token }).rows[0].model, "m2");
        assert.equal(store.usage(key, { since: 2000000, before: 86400000000n }).sum.calls, 1);
        assert.throws(() => store.usage({ app: "app" }, { by: ["week"] }), seslite.MisuseError);
        assert.throws(() => store.usage({ user: "user" }), seslite.MisuseError);
    }));

test("each code has a class, and a message that says where", () =>
    withStore(
        (store) => {
            assert.throws(
                () => store.get(key),
                (error) => error instanceof seslite.NotFoundError && error.message.includes("s1"),
            );
            const session = store.create(key);
            assert.throws(() => store.create(key), seslite.ExistsError);
            assert.throws(
                () => session.append('{"a":'),
                (error) => error instanceof seslite.JsonError && error.offset === 5,
            );
            assert.throws(
                () => session.appendBatch(['{"author":"a"}', '{"id":7}']),
                (error) => error instanceof seslite.InvalidError && error.index === 1,
            );
            assert.throws(() => session.append(`{"a":"${"x".repeat(2000)}"}`), seslite.LimitError);
            assert.throws(
                () => session.append(user("\ud800").replace("\\ud800", "\ud800")),
                seslite.InvalidError,
            );
            assert.throws(() => store.create({ ...key, session: "a\0b" }), seslite.InvalidError);
            assert.throws(() => store.get({ ...key, user: "" }), seslite.InvalidError);
            assert.throws(() => session.append("{}", { detla: "{}" }), seslite.MisuseError);
            assert.throws(() => session.append({ author: "a" }), seslite.MisuseError);
            assert.throws(() => store.get(key, { range: { newest: 1.5 } }), seslite.MisuseError);
            assert.equal(session.eventCount, 0);
        },
        { maxEventBytes: 1000 },
    ));

test("what is closed says so, and its other parts may be closed later", async () => {
    const store = await open(":memory:");
    const session = store.create(key, '{"n":1}');
    const walk = store.events(key);
    store.close();
    store.close();
    assert.equal(session.stateGet("n"), "1");
    assert.throws(() => session.append("{}"), seslite.MisuseError);
    assert.throws(() => store.get(key), seslite.MisuseError);
    assert.throws(() => walk.next(), seslite.MisuseError);
    session[Symbol.dispose ?? Symbol.for("Symbol.dispose")]();
    assert.throws(() => session.stateJson(), seslite.MisuseError);
    await assert.rejects(open("x.db", { host: null }), seslite.MisuseError);
    await assert.rejects(open(":memory:", { journl: "wal" }), seslite.MisuseError);
});

test("memory is freed: of what is closed at once, and of what is forgotten later", () =>
    withStore(async (store) => {
        const big = `{"big":"${"x".repeat(1 << 20)}"}`;
        store.create(key, big).close();
        for (let at = 0; at < 3000; at++) store.get(key).close(); // 3 GB, if they stayed
        assert.ok(globalThis.gc, "run node with --expose-gc");
        for (let at = 0; at < 60; at++) {
            for (let some = 0; some < 60; some++) store.get(key); // 3.7 GB in all
            globalThis.gc();
            await new Promise((resolve) => setTimeout(resolve, 5));
        }
        assert.equal(store.get(key).stateGet("big").length, (1 << 20) + 2);
    }));

test("an export is imported into another store", () =>
    withStore(async (store) => {
        const session = store.create(key, '{"app:a":1,"n":12345678901234567890}', { title: "é" });
        session.appendBatch(Array.from({ length: 300 }, (_, at) => user(`ü${at}`)));
        const pieces = [];
        store.export((bytes) => pieces.push(bytes));
        await withStore((other) => {
            const report = other.import(pieces);
            assert.equal(report.made, 1);
            assert.equal(report.events, 300);
            assert.equal(other.get(key).json(), session.json());
            assert.equal(other.import(store.exportText()).equal, 1);
            assert.equal(
                other.exportText({ app: "app", user: "alice", session: "s1", onlySessions: true }).split("\n")
                    .length > 300,
                true,
            );
            assert.throws(() => other.import('{"seslite"'), seslite.SesliteError);
        });
        const refusal = new Error("the caller's own");
        assert.throws(
            () =>
                store.export(() => {
                    throw refusal;
                }),
            refusal,
        );
        assert.throws(
            () =>
                store.import(
                    (function* () {
                        throw refusal;
                    })(),
                ),
            refusal,
        );
    }));

test("a follower gives events as they are appended, and ends with the store", async () => {
    const store = await open(":memory:");
    const session = store.create(key);
    session.append(user("before"));
    const follower = store.follow({ app: "app", user: "alice" }, { onlyNew: true });
    assert.equal(follower.poll(), undefined);
    const seen = [];
    const done = (async () => {
        for await (const news of follower)
            seen.push(news.reset ? "reset" : `${news.session}:${news.event.seq}`);
    })();
    session.append(user("one"));
    await new Promise((resolve) => setTimeout(resolve));
    store.create({ ...key, session: "s2" }).append(user("two"));
    await new Promise((resolve) => setTimeout(resolve));
    assert.deepEqual(seen, ["s1:2", "s2:1"]);
    const place = follower.place();
    session.append(user("three"));
    await new Promise((resolve) => setTimeout(resolve));
    assert.equal(store.follow({ app: "app", user: "alice" }, { place }).poll().event.seq, 3);
    const abort = new AbortController();
    const aborted = store.follow(key, { afterSeq: 3, signal: abort.signal }).next();
    abort.abort();
    assert.equal((await aborted).done, true);
    store.close();
    await done;
    assert.deepEqual(seen, ["s1:2", "s2:1", "s1:3"]);
});
