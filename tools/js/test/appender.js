// Appends events to the store in a file until it is killed, and prints a line after each: node appender.js
// FILE JOURNAL
import fs from "node:fs";
import { open } from "seslite";

const [file, journal] = process.argv.slice(2);
const store = await open(file, { journal });
const session = store.getOrCreate({ app: "app", user: "alice", session: "s1" });
for (;;) {
    session.append(`{"author":"user","content":{"parts":[{"text":"number ${session.lastSeq}"}]}}`);
    fs.writeSync(1, `${session.lastSeq}\n`);
}
