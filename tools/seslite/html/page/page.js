// The script of the page of `seslite html`: a slider over the log that shows the state at each event, and search.
// Everything else in the page works without it. It creates only text nodes from the data, never markup.

"use strict";

(() => {
  const find = (selector) => document.querySelector(selector);

  const make = (name, text, className) => {
    const element = document.createElement(name);
    element.textContent = text;
    if (className) element.className = className;
    return element;
  };

  // ------------------------------------------------------------------------------------------- the state

  // data.state is the state before the first event, data.changes are [event, {key: value}] in order. A value is the text to show, or null if the key was removed.
  const data = JSON.parse(find("#data").textContent);
  const articles = [...document.querySelectorAll("article")];
  const events = articles.map((article) => Number(article.id.slice(1)));
  const histories = new Map(); // for each key, [event, value] in order

  const remember = (event, values) => {
    for (const [key, value] of Object.entries(values)) {
      if (!histories.has(key)) histories.set(key, []);
      histories.get(key).push([event, value]);
    }
  };
  remember(0, data.state);
  for (const [event, values] of data.changes) remember(event, values);
  const rank = (key) => (key.startsWith("app:") ? 0 : key.startsWith("user:") ? 1 : 2);
  const keys = [...histories.keys()].sort((a, b) => rank(a) - rank(b) || (a < b ? -1 : 1));

  // The value after an event, or null if there is none.
  const valueAt = (key, event) => {
    const history = histories.get(key);
    let low = 0;
    let high = history.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (history[middle][0] <= event) low = middle + 1;
      else high = middle;
    }
    return low > 0 ? history[low - 1][1] : null;
  };

  const makeRow = (key, value, before) => {
    const row = document.createElement("div");
    const shown = document.createElement("dd");
    if (value !== before) {
      row.className = value === null ? "changed gone" : "changed";
      if (before !== null) shown.append(make("del", before));
    }
    shown.append(make("ins", value === null ? "removed" : value));
    if (value !== before && before === null) row.classList.add("new");
    row.append(make("dt", key), shown);
    return row;
  };

  // scrollIntoView would scroll the page too.
  const scrollWithin = (box, element) => {
    const outer = box.getBoundingClientRect();
    const inner = element.getBoundingClientRect();
    if (inner.top < outer.top || inner.bottom > outer.bottom) box.scrollTop += inner.top - outer.top - 32;
  };

  const values = find(".values");
  const showState = (position) => {
    const event = position > 0 ? events[position - 1] : 0;
    const rows = document.createDocumentFragment();
    for (const key of keys) {
      const value = valueAt(key, event);
      const before = position > 0 ? valueAt(key, event - 1) : value;
      if (value !== null || before !== null) rows.append(makeRow(key, value, before));
    }
    values.replaceChildren(rows);
    find(".at").textContent = position > 0 ? `after event ${event}` : "before the first event";
    const changed = values.querySelector(".changed");
    if (changed) scrollWithin(find(".state"), changed);
  };

  // ------------------------------------------------------------------------------------------ the slider

  const slider = find(".slider");
  let here = articles.length; // the position of the slider: 0 is before the first event
  let placed = false; // true once the reader has moved it
  let marked = null;
  let drawing = false;

  const draw = () => {
    drawing = false;
    showState(here);
    if (marked) marked.classList.remove("here");
    marked = here > 0 ? articles[here - 1] : null;
    if (marked) marked.classList.add("here");
  };

  const goTo = (position, scroll) => {
    here = Math.max(0, Math.min(articles.length, position));
    placed = placed || scroll;
    slider.value = String(here);
    slider.setAttribute("aria-valuetext", here > 0 ? `after event ${events[here - 1]}` : "before the first event");
    if (scroll && here > 0) articles[here - 1].scrollIntoView({ block: "nearest" });
    if (scroll && here === 0) window.scrollTo(0, 0);
    if (!drawing) requestAnimationFrame(draw);
    drawing = true;
  };

  // The address names the event, so that it can be copied. Browsers may refuse too frequent changes.
  const nameInAddress = () => {
    try {
      history.replaceState(null, "", here > 0 ? `#e${events[here - 1]}` : location.pathname + location.search);
    } catch {
      // the page works without it
    }
  };

  const goToAddress = () => {
    const position = events.indexOf(Number(location.hash.replace(/^#e/, "") || NaN));
    if (position >= 0) goTo(position + 1, true);
    return position >= 0;
  };

  slider.max = String(articles.length);
  slider.addEventListener("input", () => goTo(Number(slider.value), true));
  slider.addEventListener("change", nameInAddress);
  window.addEventListener("hashchange", goToAddress);

  // ---------------------------------------------------------------------------------------------- search

  const MAX_MARKS = 1000; // matches that are marked
  const input = find(".search input");
  const count = find(".search output");
  let marks = [];
  let chosen = -1;
  let waiting = 0;

  const clearMarks = () => {
    for (const mark of marks) {
      const parent = mark.parentNode;
      mark.replaceWith(...mark.childNodes);
      parent.normalize();
    }
    marks = [];
    chosen = -1;
  };

  const markIn = (node, wanted) => {
    const text = node.data;
    const pieces = document.createDocumentFragment();
    let end = 0;
    for (const match of text.matchAll(wanted)) {
      if (marks.length === MAX_MARKS) break;
      const mark = make("mark", match[0]);
      pieces.append(text.slice(end, match.index), mark);
      marks.push(mark);
      end = match.index + match[0].length;
    }
    if (end === 0) return;
    pieces.append(text.slice(end));
    node.replaceWith(pieces);
  };

  const textsOf = (root, accept) => {
    const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
    const nodes = [];
    while (walker.nextNode()) if (accept(walker.currentNode.parentElement)) nodes.push(walker.currentNode);
    return nodes;
  };

  // Searches the visible text of an article, or the stored event if the text is not found there.
  const searchArticle = (article, wanted) => {
    const found = marks.length;
    const isRaw = (element) => element.closest("details.event") !== null;
    for (const node of textsOf(article, (element) => !isRaw(element))) markIn(node, wanted);
    if (marks.length > found) return;
    for (const node of textsOf(article, (element) => isRaw(element) && element.closest("pre"))) markIn(node, wanted);
  };

  const choose = (index) => {
    if (marks.length === 0) return;
    if (chosen >= 0) marks[chosen].classList.remove("here");
    chosen = (index + marks.length) % marks.length;
    const mark = marks[chosen];
    mark.classList.add("here");
    for (let fold = mark.closest("details"); fold; fold = fold.parentElement.closest("details")) fold.open = true;
    mark.scrollIntoView({ block: "center" });
    count.value = `${chosen + 1} of ${marks.length}${marks.length === MAX_MARKS ? "+" : ""}`;
  };

  const search = () => {
    const text = input.value;
    clearMarks();
    count.value = "";
    if (text.trim() === "") return;
    const wanted = new RegExp(text.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&"), "giu");
    for (const article of articles) {
      if (marks.length === MAX_MARKS) break;
      searchArticle(article, wanted);
    }
    if (marks.length > 0) choose(0);
    else count.value = "nothing";
  };

  input.addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(search, 150);
  });
  find(".next").addEventListener("click", () => choose(chosen + 1));
  find(".previous").addEventListener("click", () => choose(chosen - 1));

  // ------------------------------------------------------------------------------------------------ keys

  const inSearch = {
    Enter: (event) => choose(chosen + (event.shiftKey ? -1 : 1)),
    Escape: () => {
      input.value = "";
      search();
      input.blur();
    },
  };

  // The part of the window that the panel does not cover.
  const bottom = () => {
    const panel = find(".panel");
    return getComputedStyle(panel).position === "fixed" ? panel.getBoundingClientRect().top : window.innerHeight;
  };
  const isInSight = (element) => {
    const box = element.getBoundingClientRect();
    return box.bottom > 0 && box.top < bottom();
  };

  // The position of the first visible event. Finding it lays out only its section.
  const firstInSight = () => {
    const section = [...document.querySelectorAll("section")].find((element) => element.getBoundingClientRect().bottom > 0);
    if (!section) return articles.length;
    const inside = [...section.querySelectorAll("article")];
    const article = inside.find((element) => element.getBoundingClientRect().top >= -1);
    return articles.indexOf(article || inside[inside.length - 1]) + (article ? 1 : 2); // the last event may be a long one
  };

  // Starts from the selected event, or from the visible one if the reader has scrolled away.
  const step = (by) => {
    const stays = placed && (here > 0 ? isInSight(articles[here - 1]) : window.scrollY < 1);
    goTo(stays ? here + by : firstInSight() - (by < 0 ? 1 : 0), true);
    nameInAddress();
  };

  const anywhere = {
    "/": () => {
      input.focus();
      input.select();
    },
    j: () => step(1),
    k: () => step(-1),
    n: () => choose(chosen + 1),
    N: () => choose(chosen - 1),
  };

  document.addEventListener("keydown", (event) => {
    const act = (event.target === input ? inSearch : anywhere)[event.key];
    if (!act || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    act(event);
  });

  // ----------------------------------------------------------------------------------------------- begin

  document.body.classList.add("scripted");
  find(".search").hidden = false;
  find(".where").hidden = articles.length === 0;
  if (window.matchMedia("(max-width: 60rem)").matches) find(".state").open = false;
  if (!goToAddress()) goTo(articles.length, false);
})();
