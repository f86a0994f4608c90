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
