// A dedicated worker that has stores in the browser's files and works for client.js.
import { MisuseError, SesliteError } from "./errors.js";
import { Follower } from "./follower.js";
import { opfsHost } from "./host_opfs.js";
import { Session } from "./session.js";
import { Store, open } from "./store.js";

const KINDS = [
    ["store", Store],
    ["session", Session],
    ["follower", Follower],
];

const objects = new Map();
let lastObject = 0;

const root = { open: (path, options) => open(path, { host: opfsHost(), ...options }) };

/** What can be sent: an object that stays here is sent as its number, and a walk as an array. */
function toSend(value) {
    for (const [kind, made] of KINDS) {
        if (value instanceof made) {
            objects.set(++lastObject, value);
            return { kind, object: lastObject };
        }
    }
    return { value: isWalk(value) ? [...value] : value };
}

function isWalk(value) {
    return (
        typeof value === "object" &&
        value !== null &&
        !Array.isArray(value) &&
        typeof value.next === "function"
    );
}

function errorToSend(error) {
    const { message, version, engineCode, offset, index, madeIds } = error;
    if (!(error instanceof SesliteError)) return { code: "INTERNAL", message: String(error) };
    const cause = error.cause === undefined ? undefined : String(error.cause);
    return { code: error.code, message, version, engineCode, offset, index, madeIds, cause };
}

async function run({ object, method, values }) {
    const target = object === 0 ? root : objects.get(object);
    if (!target) throw new MisuseError("the object was closed");
    const result = await target[method](...values);
    if (method === "close") objects.delete(object);
    return result;
}

self.onmessage = async ({ data }) => {
    try {
        self.postMessage({ id: data.id, ...toSend(await run(data)) });
    } catch (error) {
        self.postMessage({ id: data.id, error: errorToSend(error) });
    }
};
