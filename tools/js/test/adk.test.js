// The session service of @google/adk: what the ADK's own service does it does too, and what only a store can
// do.
import assert from "node:assert/strict";
import { test } from "node:test";
import { open, ExistsError, NotFoundError, Session } from "seslite";

const adk = await import("@google/adk").catch(() => undefined);
const skip = !adk && "@google/adk is not here";
const { SesliteSessionService } = adk ? await import("seslite/adk") : {};

const key = { appName: "app", userId: "alice", sessionId: "s1" };
let clock = Date.parse("2026-01-02T03:04:05.678Z");

function event(text, more = {}) {
    clock += 1000;
    const { actions, ...rest } = more;
    return adk.createEvent({
        invocationId: "i1",
        author: "user",
        timestamp: clock,
        content: { role: "user", parts: [{ text }] },
        actions: {
            stateDelta: {},
            artifactDelta: {},
            requestedAuthConfigs: {},
            requestedToolConfirmations: {},
            ...actions,
        },
        ...rest,
    });
}

const plain = (value) => JSON.parse(JSON.stringify(value));
const texts = (session) => session.events.map(({ content }) => content.parts[0].text);

/** As the store of a page is: every call returns a promise, and nothing else can be read. */
function later(object) {
    return new Proxy(object, {
        get: (target, name) =>
            typeof target[name] !== "function"
                ? undefined
                : async (...values) => {
                      const result = target[name](...values);
                      return result instanceof Session ? later(result) : result;
                  },
    });
}

const services = {
    "the ADK's": async (work) => work(new adk.InMemorySessionService()),
    "ours, with promises": (work) =>
        services.ours((_, store) => work(new SesliteSessionService(later(store)))),
    ours: async (work) => {
        const store = await open(":memory:");
        try {
            await work(new SesliteSessionService(store), store);
        } finally {
            store.close();
        }
    },
};

function both(name, work) {
    for (const [service, run] of Object.entries(services))
        test(`${name} (${service})`, { skip }, () => run(work));
}

function ours(name, work) {
    test(name, { skip }, () => services.ours(work));
}

both("a session is created, with an id of its own or a given one, and found", async (service) => {
    const made = await service.createSession({
        appName: "app",
        userId: "alice",
        state: { topic: "x", "temp:gone": 1 },
    });
    assert.ok(made.id.length > 10);
    assert.deepEqual(plain(made.state), { topic: "x" });
    assert.deepEqual(made.events, []);
    assert.ok(Math.abs(made.lastUpdateTime - Date.now()) < 60000);
    const given = await service.getOrCreateSession({ ...key, state: { n: 1 } });
    assert.equal(given.id, "s1");
    assert.deepEqual(plain((await service.getOrCreateSession({ ...key, state: { n: 2 } })).state), { n: 1 });
    assert.deepEqual(plain(await service.getSession(key)), plain(given));
    assert.equal(await service.getSession({ ...key, sessionId: "none" }), undefined);
    assert.equal(await service.getSession({ ...key, userId: "bob" }), undefined);
});

both("an event is stored with all that it has, and changes the state in its scopes", async (service) => {
    const session = await service.createSession({ ...key, state: { old: [1, { deep: null }] } });
    const given = event("héllo 🦊", {
        branch: "a.b",
        longRunningToolIds: ["t"],
        customMetadata: { k: [true, 0.1, 1e21] },
        actions: { stateDelta: { n: 1, "app:theme": "dark", "user:lang": "en", "temp:x": 1, nothing: null } },
    });
    const returned = await service.appendEvent({ session, event: given });
    assert.equal(returned.id, given.id);
    assert.deepEqual(plain(session.state), {
        old: [1, { deep: null }],
        n: 1,
        "app:theme": "dark",
        "user:lang": "en",
        nothing: null,
    });
    assert.equal(session.lastUpdateTime >= given.timestamp, true);
    const read = await service.getSession(key);
    assert.deepEqual(plain(read.state), plain(session.state));
    assert.equal(read.events.length, 1);
    const expected = plain(given);
    delete expected.actions.stateDelta["temp:x"];
    assert.deepEqual(plain(read.events[0]), expected);
    const other = await service.createSession({ ...key, sessionId: "s2" });
    assert.deepEqual(plain(other.state), { "app:theme": "dark", "user:lang": "en" });
    const stranger = await service.createSession({ ...key, userId: "bob", sessionId: "s2" });
    assert.deepEqual(plain(stranger.state), { "app:theme": "dark" });
});

both("a partial event changes nothing", async (service) => {
    const session = await service.createSession(key);
    const partial = event("par", { partial: true, actions: { stateDelta: { n: 1 } } });
    assert.equal(await service.appendEvent({ session, event: partial }), partial);
    assert.deepEqual(session.events, []);
    assert.deepEqual(plain(session.state), {});
    assert.deepEqual(plain(await service.getSession(key)).events, []);
});

both("only recent events, or those since a time, are read", async (service) => {
    const session = await service.createSession(key);
    const events = [];
    for (let at = 0; at < 5; at++)
        events.push(await service.appendEvent({ session, event: event(`t${at}`) }));
    const read = async (config) => texts(await service.getSession({ ...key, config }));
    assert.deepEqual(await read({ numRecentEvents: 2 }), ["t3", "t4"]);
    assert.deepEqual(await read({ numRecentEvents: 0 }), ["t0", "t1", "t2", "t3", "t4"]);
    assert.deepEqual(await read({ afterTimestamp: events[3].timestamp }), ["t3", "t4"]);
    assert.deepEqual(await read({ afterTimestamp: events[1].timestamp + 0.5, numRecentEvents: 4 }), [
        "t2",
        "t3",
        "t4",
    ]);
    assert.deepEqual(await read({ afterTimestamp: events[4].timestamp + 1 }), []);
});

both("sessions are listed by pages, of a user and of all", async (service) => {
    for (let at = 0; at < 7; at++) {
        const session = await service.createSession({
            appName: "app",
            userId: at % 2 ? "bob" : "alice",
            sessionId: `s${at}`,
        });
        await service.appendEvent({
            session,
            event: event("x", { timestamp: Date.now() + 100000 * (at + 1) }),
        });
    }
    const list = async (request) => {
        const { sessions, ...rest } = await service.listSessions({ appName: "app", ...request });
        assert.ok(sessions.every((session) => session.events.length === 0 && session.appName === "app"));
        return { ids: sessions.map(({ id }) => id).join(), ...rest };
    };
    assert.deepEqual(await list({ userId: "bob" }), {
        ids: "s1,s3,s5",
        page: 1,
        limit: 3,
        totalItems: 3,
        totalPages: 1,
    });
    assert.deepEqual(await list({ order: "desc" }), {
        ids: "s6,s5,s4,s3,s2,s1,s0",
        page: 1,
        limit: 7,
        totalItems: 7,
        totalPages: 1,
    });
    assert.deepEqual(await list({ order: "asc", limit: 3, page: 2 }), {
        ids: "s3,s4,s5",
        page: 2,
        limit: 3,
        totalItems: 7,
        totalPages: 3,
    });
    assert.deepEqual(await list({ order: "desc", limit: 2, offset: 5 }), {
        ids: "s1,s0",
        page: 3,
        limit: 2,
        totalItems: 7,
        totalPages: 4,
    });
    assert.deepEqual(await list({ order: "asc", offset: 5 }), {
        ids: "s5,s6",
        page: 1,
        limit: 7,
        totalItems: 7,
        totalPages: 1,
    });
    assert.deepEqual(await list({ limit: 0 }), { ids: "", page: 1, limit: 0, totalItems: 7, totalPages: 0 });
    assert.deepEqual(await list({ order: "asc", limit: 3, page: 9 }), {
        ids: "",
        page: 9,
        limit: 3,
        totalItems: 7,
        totalPages: 3,
    });
    assert.deepEqual(await list({ userId: "carol" }), {
        ids: "",
        page: 1,
        limit: 0,
        totalItems: 0,
        totalPages: 0,
    });
    assert.deepEqual(await list({ userId: "carol", limit: 5, offset: 10 }), {
        ids: "",
        page: 3,
        limit: 5,
        totalItems: 0,
        totalPages: 0,
    });
});

both("a session is deleted, and one that does not exist is no error", async (service) => {
    await service.createSession(key);
    await service.deleteSession(key);
    await service.deleteSession(key);
    assert.equal(await service.getSession(key), undefined);
});

both("a runner's turns are kept, with the state that its agent wrote", async (service) => {
    class Scripted extends adk.BaseAgent {
        async *runAsyncImpl(context) {
            for (const [text, partial] of [
                ["Hel", true],
                ["Hello", undefined],
            ])
                yield adk.createEvent({
                    invocationId: context.invocationId,
                    author: this.name,
                    partial,
                    content: { role: "model", parts: [{ text }] },
                    actions: {
                        stateDelta: { answers: context.session.events.length, "temp:t": 1 },
                        artifactDelta: {},
                    },
                });
        }
    }
    await service.createSession(key);
    const runner = new adk.Runner({
        appName: "app",
        agent: new Scripted({ name: "scripted" }),
        sessionService: service,
    });
    for (let turn = 0; turn < 2; turn++) {
        for await (const each of runner.runAsync({
            userId: "alice",
            sessionId: "s1",
            newMessage: { role: "user", parts: [{ text: `turn ${turn}` }] },
        }))
            void each;
    }
    const session = await service.getSession(key);
    assert.deepEqual(texts(session), ["turn 0", "Hello", "turn 1", "Hello"]);
    assert.equal(session.state.answers, 3);
    assert.equal("temp:t" in session.state, false);
});

ours("a session that exists is not replaced, and one that is gone takes no events", async (service) => {
    const session = await service.createSession({ ...key, state: { n: 1 } });
    await assert.rejects(service.createSession(key), ExistsError);
    await service.deleteSession(key);
    await assert.rejects(service.appendEvent({ session, event: event("late") }), NotFoundError);
    assert.deepEqual(session.events, []);
});

ours("a session to which another has appended shows that too", async (service) => {
    const one = await service.createSession(key);
    const other = await service.getSession(key);
    await service.appendEvent({
        session: other,
        event: event("theirs", { actions: { stateDelta: { theirs: 1, "user:u": 2 } } }),
    });
    one.state["temp:mine"] = 1;
    await service.appendEvent({
        session: one,
        event: event("mine", { actions: { stateDelta: { mine: 1 } } }),
    });
    assert.deepEqual(texts(one), ["theirs", "mine"]);
    assert.deepEqual({ ...one.state }, { theirs: 1, mine: 1, "user:u": 2, "temp:mine": 1 });
    await service.appendEvent({ session: one, event: event("more") });
    assert.deepEqual(texts(one), ["theirs", "mine", "more"]);
});

ours(
    "an event that is appended again is there once, and another one of its id is refused",
    async (service) => {
        const session = await service.createSession(key);
        const given = event("once");
        await service.appendEvent({ session, event: given });
        await service.appendEvent({ session, event: given });
        assert.deepEqual(texts(session), ["once"]);
        assert.deepEqual(texts(await service.getSession(key)), ["once"]);
        await assert.rejects(
            service.appendEvent({ session, event: { ...given, author: "another" } }),
            ExistsError,
        );
    },
);

ours("integers of other programs stay exact with a parser of one's own", async (_, store) => {
    store.create({ app: "app", user: "alice", session: "big" }, '{"n":12345678901234567890}').close();
    const service = new SesliteSessionService(store, {
        parse: (json) => JSON.parse(json.replace(/:(\d{16,})/g, ':"$1n"')),
        stringify: (value) => JSON.stringify(value).replace(/"(\d{16,})n"/g, "$1"),
    });
    const session = await service.getSession({ ...key, sessionId: "big" });
    assert.equal(session.state.n, "12345678901234567890n");
    await service.appendEvent({
        session,
        event: event("x", { actions: { stateDelta: { m: session.state.n } } }),
    });
    assert.ok(
        store
            .get({ app: "app", user: "alice", session: "big" })
            .stateJson()
            .includes('"m":12345678901234567890'),
    );
});
