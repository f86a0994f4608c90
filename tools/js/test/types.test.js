// The declarations: what TypeScript accepts of them, what it refuses, and that they name all that there is.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import * as seslite from "seslite";

const here = path.dirname(fileURLToPath(import.meta.url));
const compiler = path.join(here, "node_modules", "typescript", "bin", "tsc");
const skip = !fs.existsSync(compiler) && "TypeScript is not here";

test("a program that uses the types compiles", { skip }, () => {
    const run = spawnSync(
        process.execPath,
        [
            compiler,
            "--noEmit",
            "--types",
            "node",
            "--strict",
            "--target",
            "es2022",
            "--module",
            "nodenext",
            "--lib",
            "es2022,esnext.disposable,dom",
            "types_use.ts",
            "client_use.ts",
        ],
        { cwd: here, encoding: "utf8" },
    );
    assert.equal(run.status, 0, run.stdout);
});

test(
    "a program that uses the service for @google/adk compiles",
    {
        skip:
            skip ||
            (!fs.existsSync(path.join(here, "node_modules", "@google", "adk")) && "@google/adk is not here"),
    },
    () => {
        const run = spawnSync(
            process.execPath,
            [
                compiler,
                "--noEmit",
                "--types",
                "node",
                "--types",
                "node",
                "--strict",
                "--skipLibCheck",
                "--target",
                "es2022",
                "--module",
                "nodenext",
                "--lib",
                "es2022,esnext.disposable,dom",
                "adk_use.ts",
            ],
            { cwd: here, encoding: "utf8" },
        );
        assert.equal(run.status, 0, run.stdout);
    },
);

test("every call of the client is declared, and no other", () => {
    const lib = path.join(here, "node_modules", "seslite", "lib");
    const names = (text) => [...text.matchAll(/"(\w+)"/g)].map((match) => match[1]).sort();
    const client = fs.readFileSync(path.join(lib, "client.js"), "utf8");
    const types = fs.readFileSync(path.join(lib, "client.d.ts"), "utf8");
    for (const name of ["RemoteStore", "RemoteSession", "RemoteFollower"]) {
        const made = new RegExp(`class ${name} extends forward\\(\\[([^]*?)\\]\\)`).exec(client)[1];
        const declared = new RegExp(`interface ${name}[^]*?Remoted<\\s*\\w+,\\s*([^]*?)>`).exec(types)[1];
        assert.deepEqual(names(declared), names(made), name);
    }
});

test("every member of the classes is declared, and no other", async () => {
    const text = fs.readFileSync(path.join(here, "node_modules", "seslite", "lib", "index.d.ts"), "utf8");
    for (const name of ["Store", "Session", "Follower"]) {
        const body = text.slice(text.indexOf(`export class ${name} `)).split("\n}\n")[0];
        const declared = [...body.matchAll(/^ {4}(?:readonly )?(\w+)[(:<]/gm)]
            .map((match) => match[1])
            .concat("constructor");
        const members = Object.getOwnPropertyNames(seslite[name].prototype);
        assert.deepEqual([...new Set(declared)].sort(), members.sort(), name);
    }
    for (const [name, value] of Object.entries(seslite)) {
        if (value.prototype instanceof seslite.SesliteError)
            assert.ok(
                text.includes(`export class ${name} extends SesliteError {}`) &&
                    text.includes(`"${value.code}"`),
                name,
            );
    }
});
