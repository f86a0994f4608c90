import { BaseSessionService } from "@google/adk";
import type {
    AppendEventRequest,
    CreateSessionRequest,
    DeleteSessionRequest,
    Event,
    GetSessionRequest,
    ListSessionsRequest,
    ListSessionsResponse,
    Session,
} from "@google/adk";
import type { RemoteStore } from "./client.js";
import type { Store } from "./index.js";

export interface SesliteSessionServiceOptions {
    /**
     * In place of JSON.parse and JSON.stringify, which round integers above 2^53 that other programs have
     * stored.
     */
    parse?: (json: string) => any;
    stringify?: (value: unknown) => string;
}

/**
 * The sessions of @google/adk in a store. The store stays the caller's, who closes it after the service was
 * used.
 */
export class SesliteSessionService extends BaseSessionService {
    constructor(store: Store | RemoteStore, options?: SesliteSessionServiceOptions);
    createSession(request: CreateSessionRequest): Promise<Session>;
    /** Reads the session or creates it, in one transaction. */
    getOrCreateSession(request: CreateSessionRequest): Promise<Session>;
    getSession(request: GetSessionRequest): Promise<Session | undefined>;
    listSessions(request: ListSessionsRequest): Promise<ListSessionsResponse>;
    deleteSession(request: DeleteSessionRequest): Promise<void>;
    appendEvent(request: AppendEventRequest): Promise<Event>;
}
