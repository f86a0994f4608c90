// Compiled, not run: see types.test.js.
import { BusyError, open, type RemoteStore } from "seslite/client";
import { opfsHost } from "seslite/opfs";
import type { Host } from "seslite";

async function use(): Promise<string[]> {
    const host: Host = opfsHost();
    const store: RemoteStore = await open("agents.db", { worker: new Worker("worker.js") });
    const session = await store.getOrCreate({ app: "a", user: "u", session: "s" });
    const time: bigint = (await session.append("{}")).timeUs;
    for await (const news of await store.follow({ app: "a", user: "u" })) void news.event?.json;
    // @ts-expect-error a host stays in the worker
    await open("agents.db", { host });
    // @ts-expect-error a promise, not the state
    JSON.parse(session.stateJson());
    const versions: number[] = (await store.artifactVersions({ app: "a", user: "u" }, "file")).map(
        ({ size }) => size,
    );
    const { length }: { length: number } = await session.pop("now");
    void [versions, length, (await store.check()).length];
    await store.close();
    return [...(await store.listAll("a")).map(({ id }) => id), String(time), BusyError.name];
}

void use;
