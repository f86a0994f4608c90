"use strict";

// Searches the names and texts of texts.js, all in the browser: the pages also work as files.
(function () {
    const MAX_RESULTS = 30;
    const query = document.getElementById("query");
    const results = document.getElementById("results");
    let chosen = -1;

    // How well an entry matches: 0 if not at all. A name counts more than its summary, and that more than the text.
    function score(entry, words) {
        const name = entry[0].toLowerCase(), summary = entry[3].toLowerCase(), text = entry[4].toLowerCase();
        let sum = entry[1] === "call" ? 2 : entry[1] === "member" ? 0 : 1;
        for (const word of words) {
            if (name === word || name === "ses_" + word)
                sum += 100;
            else if (name.startsWith(word) || name.startsWith("ses_" + word))
                sum += 60 - Math.min(name.length, 40) / 2;
            else if (name.includes(word))
                sum += 30 - Math.min(name.length, 40) / 4;
            else if (summary.includes(word))
                sum += 12;
            else if (text.includes(word))
                sum += 4;
            else
                return 0;
        }
        return sum;
    }

    function find(words) {
        return texts.map((entry) => ({entry, score: score(entry, words)}))
            .filter((found) => found.score > 0)
            .sort((a, b) => b.score - a.score || (a.entry[0] < b.entry[0] ? -1 : 1))
            .map((found) => found.entry);
    }

    // The summary, or the part of the text in which a word is.
    function excerpt(entry, words) {
        const whole = (entry[3] + " " + entry[4]).toLowerCase();
        if (words.every((word) => !entry[4].toLowerCase().includes(word) || (entry[0] + entry[3]).toLowerCase().includes(word)))
            return entry[3];
        const at = Math.max(0, ...words.map((word) => whole.indexOf(word) - entry[3].length - 1));
        const begin = at < 60 ? 0 : entry[4].indexOf(" ", at - 60) + 1;
        return (begin ? "\u2026 " : "") + entry[4].slice(begin, begin + 160) + " \u2026";
    }

    function appendMarked(parent, text, words) {
        const pattern = new RegExp("(" + words.map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")).join("|") + ")", "i");
        text.replaceAll("`", "").split(pattern).forEach((part, i) => {
            const node = i % 2 ? document.createElement("mark") : document.createTextNode(part);
            if (i % 2)
                node.textContent = part;
            parent.append(node);
        });
    }

    function row(entry, words) {
        const link = document.createElement("a");
        const kind = document.createElement("small");
        const name = document.createElement("code");
        const about = document.createElement("span");
        link.href = entry[2];
        kind.textContent = entry[1];
        appendMarked(name, entry[0], words);
        appendMarked(about, excerpt(entry, words), words);
        link.append(kind, name, about);
        return link;
    }

    function show() {
        const words = query.value.toLowerCase().split(/\s+/).filter(Boolean);
        const found = words.length ? find(words) : [];
        results.replaceChildren(...found.slice(0, MAX_RESULTS).map((entry) => row(entry, words)));
        if (words.length && found.length !== results.children.length || !found.length) {
            const note = document.createElement("p");
            note.textContent = found.length ? `${found.length - MAX_RESULTS} more` : "Nothing found.";
            results.append(note);
        }
        results.hidden = !words.length;
        choose(found.length ? 0 : -1);
    }

    function choose(next) {
        const links = results.querySelectorAll("a");
        if (links[chosen])
            links[chosen].classList.remove("chosen");
        chosen = links.length ? (next + links.length) % links.length : -1;
        if (links[chosen]) {
            links[chosen].classList.add("chosen");
            links[chosen].scrollIntoView({block: "nearest"});
        }
    }

    query.addEventListener("input", show);
    query.addEventListener("focus", () => { if (query.value) show(); });
    query.addEventListener("keydown", (event) => {
        if (event.key === "ArrowDown" || event.key === "ArrowUp") {
            choose(chosen + (event.key === "ArrowDown" ? 1 : -1));
            event.preventDefault();
        } else if (event.key === "Enter" && results.querySelectorAll("a")[chosen]) {
            results.hidden = true;
            window.location.href = results.querySelectorAll("a")[chosen].href;
        } else if (event.key === "Escape")
            results.hidden = true;
    });
    document.addEventListener("click", (event) => {
        if (!event.target.closest(".search") || event.target.closest("#results a"))
            results.hidden = true;
    });
    document.addEventListener("keydown", (event) => {
        if (event.key === "/" && document.activeElement !== query) {
            query.focus();
            event.preventDefault();
        }
    });
})();
