// The session service of @google/adk on a store. It awaits each call, so it also works on a store of
// client.js.
import { BaseSessionService } from "@google/adk";
import { NotFoundError } from "./errors.js";

const MAX_PAGE = 10000;
const ORDERS = { asc: "oldest", desc: "newest" };

function keyOf({ appName, userId, sessionId }) {
    return { app: appName, user: userId, session: sessionId || undefined };
}

/** Microseconds as the milliseconds of the ADK. */
function milliseconds(us) {
    return Number(us) / 1000;
}

function rangeOf(config) {
    const range = {};
    if (config?.numRecentEvents) range.newest = config.numRecentEvents;
    if (config?.afterTimestamp) range.since = BigInt(Math.round(config.afterTimestamp * 1000));
    return range.newest === undefined && range.since === undefined ? undefined : range;
}

export class SesliteSessionService extends BaseSessionService {
    #store;
    #parse;
    #stringify;
    #versions = new WeakMap(); // of the sessions that were given

    constructor(store, { parse = JSON.parse, stringify = JSON.stringify } = {}) {
        super();
        this.#store = store;
        this.#parse = parse;
        this.#stringify = stringify;
    }

    async createSession(request) {
        const state = request.state && this.#stringify(request.state);
        return this.#take(await this.#store.create(keyOf(request), state));
    }

    async getOrCreateSession(request) {
        if (!request.sessionId) return this.createSession(request);
        const state = request.state && this.#stringify(request.state);
        return this.#take(await this.#store.getOrCreate(keyOf(request), state));
    }

    async getSession(request) {
        try {
            return await this.#take(
                await this.#store.get(keyOf(request), { range: rangeOf(request.config) }),
            );
        } catch (error) {
            if (error instanceof NotFoundError) return undefined;
            throw error;
        }
    }

    /** The ADK's session of one of the store, which is closed. */
    async #take(stored) {
        try {
            const facts = await stored.facts();
            const session = this.#make(facts, await stored.stateJson());
            session.events = (await stored.events()).map((event) => this.#parse(event.json));
            this.#versions.set(session, facts.version);
            return session;
        } finally {
            await stored.close();
        }
    }

    #make({ id, app, user, updatedUs }, stateJson) {
        const state = this.#parse(stateJson);
        return { id, appName: app, userId: user, state, events: [], lastUpdateTime: milliseconds(updatedUs) };
    }

    async listSessions({ appName, userId, limit, offset = 0, page, order }) {
        const user = userId || undefined;
        const totalItems = await this.#store.count(appName, user);
        const options = { order: order === undefined ? "created" : ORDERS[order] };
        if (limit === undefined) {
            const sessions = await this.#list(appName, user, offset, Infinity, options);
            return { sessions, page: 1, limit: totalItems, totalItems, totalPages: totalItems === 0 ? 0 : 1 };
        }
        const start = page === undefined ? offset : (page - 1) * limit;
        return {
            sessions: await this.#list(appName, user, start, limit, options),
            page: page ?? (limit === 0 ? 1 : Math.floor(start / limit) + 1),
            limit,
            totalItems,
            totalPages: limit === 0 ? 0 : Math.ceil(totalItems / limit),
        };
    }

    async #list(app, user, skip, count, options) {
        const sessions = [];
        let token;
        const next = async (limit, state) => {
            const page = await this.#store.list(app, user, {
                ...options,
                token,
                state,
                limit: Math.min(limit, MAX_PAGE),
            });
            token = page.token;
            return page.sessions;
        };
        for (let left = skip; left > 0; left -= MAX_PAGE) {
            await next(left, false);
            if (token === undefined) return sessions;
        }
        while (sessions.length < count) {
            for (const facts of await next(count - sessions.length, true))
                sessions.push(this.#make(facts, facts.stateJson));
            if (token === undefined) break;
        }
        return sessions;
    }

    async deleteSession(request) {
        await this.#store.delete(keyOf(request));
    }

    /**
     * Stores the event first. A session to which others have appended is read again, as the ADK's database
     * service does it.
     */
    async appendEvent({ session, event }) {
        if (event.partial) return event;
        const key = { app: session.appName, user: session.userId, session: session.id };
        const result = await this.#store.append(key, this.#stringify(event));
        const known = this.#versions.get(session);
        // This also drops the temp: keys of the event.
        const appended = await super.appendEvent({ session, event });
        if (known === undefined || result.version !== known + (result.status === "stored" ? 1 : 0))
            await this.#readAgain(session, key);
        this.#versions.set(session, result.version);
        session.lastUpdateTime = milliseconds(result.updatedUs);
        return appended;
    }

    async #readAgain(session, key) {
        const fresh = await this.#take(await this.#store.get(key));
        const temporary = Object.entries(session.state).filter(([name]) => name.startsWith("temp:"));
        session.state = Object.assign(fresh.state, Object.fromEntries(temporary));
        session.events = fresh.events;
    }
}
