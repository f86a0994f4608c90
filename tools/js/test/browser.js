// A real Chromium, driven by chromedriver through the WebDriver protocol, and a server for its pages.
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import fs from "node:fs";
import http from "node:http";
import os from "node:os";
import path from "node:path";

const TYPES = { ".js": "text/javascript", ".wasm": "application/wasm" };

function found(...names) {
    return names.find((name) => spawnSync("sh", ["-c", `command -v ${name}`]).status === 0);
}

export const chromium = found("chromium", "chromium-browser", "google-chrome");
export const driver = found("chromedriver");

/** Serves the files below a folder, pages by their paths, and an empty page for every other path. */
export async function serve(folder, pages) {
    const server = http.createServer((request, response) => {
        const { pathname } = new URL(request.url, "http://x");
        const file = path.join(folder, path.normalize(pathname));
        if (path.extname(file) in TYPES && fs.existsSync(file)) {
            response.setHeader("content-type", TYPES[path.extname(file)]);
            response.end(fs.readFileSync(file));
        } else {
            response.setHeader("content-type", "text/html");
            response.end(
                `<!doctype html><meta charset="utf-8">${pages[pathname] ?? "<title>a page</title>"}`,
            );
        }
    });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    return { url: `http://127.0.0.1:${server.address().port}/`, close: () => void server.close() };
}

async function startDriver() {
    const child = spawn(driver, ["--port=0"], { stdio: ["ignore", "pipe", "ignore"] });
    let said = "";
    child.stdout.setEncoding("utf8");
    for await (const piece of child.stdout) {
        said += piece;
        const port = /started successfully on port (\d+)/.exec(said)?.[1];
        if (port) {
            child.stdout.resume();
            return { child, url: `http://127.0.0.1:${port}` };
        }
    }
    throw new Error(`chromedriver has ended: ${said}`);
}

export class Browser {
    static async start() {
        const { child, url } = await startDriver();
        const browser = new Browser();
        browser.child = child;
        browser.profile = fs.mkdtempSync(path.join(os.tmpdir(), "seslite-js-chromium-"));
        browser.url = url;
        try {
            const { sessionId } = await browser.send("POST", "/session", {
                capabilities: {
                    alwaysMatch: {
                        "goog:chromeOptions": {
                            binary: spawnSync("sh", ["-c", `command -v ${chromium}`], {
                                encoding: "utf8",
                            }).stdout.trim(),
                            args: [
                                "--headless=new",
                                "--no-sandbox",
                                "--disable-gpu",
                                "--disable-dev-shm-usage",
                                `--user-data-dir=${browser.profile}`,
                            ],
                        },
                        timeouts: { script: 60000 },
                    },
                },
            });
            browser.url += `/session/${sessionId}`;
            browser.begun = true;
            return browser;
        } catch (error) {
            await browser.stop();
            throw error;
        }
    }

    async send(method, where, body) {
        const answer = await fetch(this.url + where, { method, body: body && JSON.stringify(body) });
        const { value } = await answer.json();
        if (!answer.ok) throw new Error(`${where}: ${value.error}: ${value.message}`);
        return value;
    }

    go(url) {
        return this.send("POST", "/url", { url });
    }

    reload() {
        return this.send("POST", "/refresh", {});
    }

    tab() {
        return this.send("POST", "/window/new", { type: "tab" }).then(({ handle }) => handle);
    }

    current() {
        return this.send("GET", "/window");
    }

    turnTo(handle) {
        return this.send("POST", "/window", { handle });
    }

    /** Runs a function in the page, which may be asynchronous, and returns what it returns. */
    async run(work, ...values) {
        const script = `const done = arguments[arguments.length - 1];
            (${work})(...Array.prototype.slice.call(arguments, 0, -1)).then((value) => done({ value }),
                (error) => done({ error: error.code + ": " + error.message + "\\n" + error.stack }));`;
        const { value, error } = await this.send("POST", "/execute/async", { script, args: values });
        if (error) throw new Error(error);
        return value;
    }

    async stop() {
        if (this.begun) await this.send("DELETE", "");
        this.child.kill();
        await (this.child.exitCode === null && this.child.signalCode === null
            ? once(this.child, "exit")
            : undefined);
        fs.rmSync(this.profile, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
    }
}
