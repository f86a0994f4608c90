// Compiled, not run: see types.test.js.
import { InMemorySessionService, type BaseSessionService } from "@google/adk";
import { open } from "seslite";
import { SesliteSessionService } from "seslite/adk";

async function use(): Promise<BaseSessionService[]> {
    const service = new SesliteSessionService(await open("agents.db"), { parse: JSON.parse });
    const session = await service.getOrCreateSession({ appName: "a", userId: "u", sessionId: "s" });
    const pages: number = (await service.listSessions({ appName: "a", limit: 3 })).totalPages;
    void [session.events, pages];
    return [service, new InMemorySessionService()];
}

void use;
