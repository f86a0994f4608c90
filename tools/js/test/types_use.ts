// Compiled, not run: see types.test.js.
import {
    open,
    nodeHost,
    StaleError,
    type Appended,
    type Json,
    type ListedSession,
    type Store,
} from "seslite";

async function use(path: string, event: Json): Promise<string | undefined> {
    using store: Store = await open(path, { host: nodeHost(), journal: "wal", readOnly: false });
    using session = store.getOrCreate({ app: "a", user: "u", session: "s" }, "{}", { range: { newest: 3 } });
    const result: Appended = session.append(event, { delta: "{}", labels: { old: null } });
    const time: bigint = result.timeUs;
    const listed: ListedSession[] = store.list("a", undefined, { filter: { updatedSince: time } }).sessions;
    for await (const news of store.follow({ app: "a", user: "u" })) {
        if (!news.reset) return news.event.json + listed.length;
    }
    session.rewind({ invocation: "i" });
    const popped: string[] = session.pop("lastTurn", { secure: true }).map(({ json }) => json);
    while (session.prune({ keep: 10 + popped.length, compacted: true }).more);
    const version: number = store.saveArtifact({ app: "a", user: "u" }, "file", new Uint8Array(3));
    const { bytes, kind }: { bytes: Uint8Array; kind: "bytes" | "text" | "uri" | "other" } =
        store.readArtifact({ app: "a", user: "u", session: "s" }, "user:file", { version });
    for (const { name, metadata } of store.artifacts({ app: "a", user: "u" }))
        void (name + (metadata ?? kind));
    for (const { name, text } of store.find({ app: "a" }, "x", { ignoreCase: true })) void (name ?? text);
    store.export(() => {}, { skip: true, leftOut: ({ code }) => void code });
    const inlined: string | undefined = store.inlineArtifacts({ app: "a", user: "u", session: "s" }, event);
    void (session.fork("now", { expiresUs: null }), inlined);
    const wrong: number | undefined = store.check({ level: "full" })[0]?.seq ?? bytes.length;
    void wrong;
    // @ts-expect-error an option that does not exist
    session.append(event, { detla: "{}" });
    // @ts-expect-error JSON is a text, not an object
    session.append({ author: "a" });
    // @ts-expect-error a range that is none
    store.get({ app: "a", user: "u", session: "s" }, { range: { newest: "3" } });
    // @ts-expect-error a version is a number, if there is one
    new StaleError().version satisfies string;
    return session.stateGet("key");
}

void use;
