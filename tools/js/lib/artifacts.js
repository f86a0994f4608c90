// Artifacts: the files, images and reports of a session or of a user.
import { MisuseError } from "./errors.js";
import { required } from "./session.js";
import { SECURE, keyTexts, known, optional, whole } from "./values.js";

const KINDS = ["bytes", "text", "uri"];
const SAVE_NAMES = ["kind", "mimeType", "displayName", "metadata"];

/** Bytes are read in pieces of this size. */
const PIECE_BYTES = 1 << 20;

/** What is known of a version, from the slots. */
function info(engine) {
    const metadata = engine.out(7);
    return {
        name: engine.string(engine.out(0)),
        version: engine.out(1),
        createdUs: engine.exact(2),
        size: engine.out(3),
        kind: KINDS[engine.out(4)] ?? "other",
        mimeType: engine.string(engine.out(5)),
        displayName: engine.string(engine.out(6)),
        metadata: metadata === 0 ? undefined : engine.slice(metadata, engine.out(8)),
        hash: engine.string(engine.out(9)),
        uri: engine.string(engine.out(10)),
    };
}

export function save(engine, store, key, name, content, options) {
    const given = known(options, SAVE_NAMES, "saveArtifact");
    if (content === undefined || content === null)
        throw new MisuseError("content: expected a string or a Uint8Array");
    const kind = KINDS.indexOf(given.kind ?? (typeof content === "string" ? "text" : "bytes"));
    if (kind < 0) throw new MisuseError(`kind: expected one of ${KINDS.join(", ")}`);
    return engine.frame(() => {
        const { pointer, length } = engine.bytes(content, "content");
        const metadata = engine.bytes(given.metadata, "metadata");
        const slots = engine.slots([
            kind,
            engine.text(given.mimeType, "mimeType"),
            engine.text(given.displayName, "displayName"),
            metadata.pointer,
            metadata.length,
        ]);
        const named = [...keyTexts(engine, key), required(engine, name, "name")];
        engine.check(engine.calls.artifact_save(store, ...named, pointer, length, slots));
        return engine.out(0);
    });
}

export function read(engine, store, key, name, options) {
    const { version } = known(options, ["version"], "readArtifact");
    return engine.frame(() => {
        const named = [...keyTexts(engine, key), required(engine, name, "name")];
        engine.check(engine.calls.artifact_open(store, ...named, engine.slots(optional(version, "version"))));
        const artifact = engine.out(0);
        try {
            engine.calls.artifact_info(artifact);
            const found = info(engine);
            return { ...found, bytes: readAll(engine, artifact, found.size) };
        } finally {
            engine.free("artifact_close", artifact);
        }
    });
}

function readAll(engine, artifact, count) {
    const bytes = new Uint8Array(count);
    const capacity = Math.max(1, Math.min(count, PIECE_BYTES));
    const buffer = engine.room(capacity);
    let done = 0;
    do {
        engine.check(engine.calls.artifact_read(artifact, BigInt(done), buffer, capacity));
        const piece = engine.part(buffer, engine.out(0));
        bytes.set(piece, done);
        done += piece.length;
    } while (done < count);
    return bytes;
}

/** The newest version of each artifact. `store` gives the store's address, page by page. */
export function* list(engine, store, key) {
    let after;
    do {
        const page = engine.frame(() => {
            engine.check(
                engine.calls.artifact_names(store(), ...keyTexts(engine, key), engine.text(after, "after")),
            );
            return takeList(engine);
        });
        yield* page.found;
        after = page.more ? page.found.at(-1).name : undefined;
    } while (after !== undefined);
}

export function* versions(engine, store, key, name) {
    let first = 0;
    do {
        const page = engine.frame(() => {
            const named = [...keyTexts(engine, key), required(engine, name, "name")];
            engine.check(engine.calls.artifact_versions(store(), ...named, BigInt(first)));
            return takeList(engine);
        });
        yield* page.found;
        first = page.more ? page.found.at(-1).version + 1 : undefined;
    } while (first !== undefined);
}

function takeList(engine) {
    const list = engine.out(0);
    const count = engine.out(1);
    const more = engine.out(2) === 1;
    try {
        const found = Array.from({ length: count }, (_, index) => {
            engine.calls.artifact_list_at(list, index);
            return info(engine);
        });
        return { found, more };
    } finally {
        engine.free("artifact_list_close", list);
    }
}

/** The event with bytes in place of references; undefined: it stays as it is. */
export function inline(engine, store, key, event, options) {
    const { bytes } = known(options, ["bytes"], "inlineArtifacts");
    return engine.frame(() => {
        const { pointer, length } = engine.bytes(event, "event");
        const limit = BigInt(whole(bytes ?? 0, "bytes"));
        engine.check(engine.calls.artifact_inline(store, ...keyTexts(engine, key), pointer, length, limit));
        return engine.takeText();
    });
}

export function remove(engine, store, key, name, options) {
    const flags = known(options, ["secure"], "deleteArtifact").secure ? SECURE : 0;
    return engine.frame(() => {
        const named = [...keyTexts(engine, key), required(engine, name, "name")];
        engine.check(engine.calls.artifact_delete(store, ...named, flags));
        return engine.out(0);
    });
}
