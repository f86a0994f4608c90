// The examples of the README run as they are, each in a process and a folder of its own, and print what they
// say.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

const here = path.dirname(fileURLToPath(import.meta.url));
const readme = fs.readFileSync(path.join(here, "node_modules", "seslite", "README.md"), "utf8");
const examples = [...readme.matchAll(/^```js\n([^]*?)^```$/gm)].map((match) => match[1]);

test("there are examples", () => assert.ok(examples.length >= 4));

examples.forEach((source, index) => {
    const needsAdk =
        source.includes('"@google/adk"') && !fs.existsSync(path.join(here, "node_modules", "@google", "adk"));
    test(`example ${index + 1}`, { skip: needsAdk && "@google/adk is not here" }, () => {
        const folder = fs.mkdtempSync(path.join(os.tmpdir(), "seslite-js-readme-"));
        try {
            fs.symlinkSync(path.join(here, "node_modules"), path.join(folder, "node_modules"));
            fs.writeFileSync(path.join(folder, "example.mjs"), source);
            const run = spawnSync(process.execPath, ["example.mjs"], { cwd: folder, encoding: "utf8" });
            assert.equal(run.status, 0, run.stderr);
            for (const [, expected] of source.matchAll(/console\.log\(.*\/\/ (.*)$/gm))
                assert.ok(run.stdout.split("\n").includes(expected), `${expected}: it printed ${run.stdout}`);
        } finally {
            fs.rmSync(folder, { recursive: true });
        }
    });
});
