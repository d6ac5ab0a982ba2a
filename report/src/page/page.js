"use strict";
(() => {
  const TABS = ["overview", "matrix", "causes", "clauses", "saboteurs", "baseline", "changes", "performance"];
  const ROWS = 300;
  const find = (id) => document.getElementById(id);
  let data = null;
  let byName = new Map();
  let clauses = new Map();
  let shownCases = [];
  let current = -1;
  let everyRow = false;
  let everyClause = false;

  // Texts from results only ever become text nodes.
  const element = (name, attributes, ...children) => {
    const made = document.createElement(name);
    for (const [key, value] of Object.entries(attributes || {})) {
      if (value !== null && value !== undefined) made.setAttribute(key, value);
    }
    made.append(...children.flat().filter((child) => child !== null && child !== undefined));
    return made;
  };

  // The address has what is shown, so that a link shows the same again.
  const state = () => Object.fromEntries(new URLSearchParams(location.hash.slice(1)));
  const go = (changes, replace) => {
    const next = new URLSearchParams();
    for (const [key, value] of Object.entries({ ...state(), ...changes })) {
      if (value) next.set(key, value);
    }
    const hash = "#" + next.toString();
    if (hash === location.hash) return;
    if (replace) {
      history.replaceState(null, "", hash);
      show();
    } else {
      location.hash = hash;
    }
  };

  const symbol = (verdict) => data.kinds[verdict][0];
  const group = (verdict) => data.kinds[verdict][1];
  const RANK = ["skip", "pass", "known", "fail"];
  // The worst verdict of a result; null where the run does not have the case or judged no direction.
  const worst = (result) => {
    if (!result || result.checks.length === 0) return null;
    return result.checks.map((check) => check.verdict)
      .reduce((most, verdict) => (RANK.indexOf(group(verdict)) > RANK.indexOf(group(most)) ? verdict : most));
  };

  const prepare = () => {
    for (const entry of data.cases) {
      const causes = entry.results.flatMap((result) => (result ? result.checks : [])).map((check) => check.cause || "");
      entry.text = [entry.id, entry.title, entry.path, entry.protocol, entry.clauses.join(" "),
        causes.join(" ")].join("\n").toLowerCase();
      entry.worst = entry.results.map(worst);
      entry.groups = entry.worst.map((verdict) => (verdict ? group(verdict) : "none"));
      if (!byName.has(entry.id)) byName.set(entry.id, entry);
    }
    for (const clause of data.clauses) {
      clause.positive = [];
      clause.negative = [];
      clause.groups = data.subjects.map(() => "skip");
      clauses.set(clause.id, clause);
    }
    for (const entry of data.cases) {
      for (const id of entry.clauses) {
        const clause = clauses.get(id);
        if (!clause) continue;
        clause[entry.polarity === "negative" ? "negative" : "positive"].push(entry);
        entry.groups.forEach((name, subject) => {
          if (RANK.indexOf(name) > RANK.indexOf(clause.groups[subject])) clause.groups[subject] = name;
        });
      }
    }
  };

  const options = (select, values) => select.append(...values.map((value) => element("option", { value }, value)));
  const distinct = (values) => [...new Set(values)].sort();

  const words = (text) => (text || "").toLowerCase().split(/\s+/).filter(Boolean);
  const matches = (text, wanted) => wanted.every((word) => text.includes(word));

  const cell = (verdict, result) => {
    if (!verdict) return element("td", { class: "cell skip", title: result ? "nothing was judged"
      : "not in this run" }, "");
    const bad = result.checks.filter((check) => group(check.verdict) === "fail").map((check) => check.direction);
    return element("td", { class: "cell " + group(verdict), title: verdict }, symbol(verdict) + " ",
      element("small", {}, bad.length ? bad.join(" ") : group(verdict) === "pass" ? "" : verdict));
  };

  const fits = (entry, wanted, at) =>
    matches(entry.text, wanted) && (!at.protocol || entry.protocol === at.protocol) && (!at.level
      || entry.level === at.level) &&
    (!at.verdict || (at.verdict === "differ"
      ? new Set(entry.groups.filter((name) => name !== "none" && name !== "skip")).size > 1
      : entry.groups.includes(at.verdict)));

  const showCases = (at) => {
    const wanted = words(at.filter);
    const all = data.cases.filter((entry) => fits(entry, wanted, at));
    shownCases = everyRow ? all : all.slice(0, ROWS);
    const row = (entry) => {
      const made = element("tr", { "data-case": entry.id },
        element("th", { scope: "row" }, element("a", { class: "case", href: "#" + new URLSearchParams({ ...at,
          tab: "matrix", case: entry.id }) }, entry.id)),
        element("td", {}, entry.title), element("td", {}, element("span", { class: "path" }, entry.path)),
        entry.results.map((result, subject) => cell(entry.worst[subject], result)));
      made.addEventListener("click", (event) => {
        if (event.target.tagName !== "A") go({ tab: "matrix", case: entry.id });
      });
      return made;
    };
    find("cases").tBodies[0].replaceChildren(...shownCases.map(row));
    find("count").textContent = all.length + " of " + data.cases.length + " cases" +
      (shownCases.length < all.length ? ", the first " + shownCases.length + " shown" : "");
    find("more").hidden = shownCases.length === all.length;
    find("more").textContent = "show all " + all.length;
    current = -1;
  };

  const clauseState = (clause) => {
    if (clause.positive.length + clause.negative.length === 0) return clause.untestable ? "untestable" : "missing";
    if (clause.groups.includes("fail")) return "fail";
    return clause.groups.includes("pass") || clause.groups.includes("known") ? "pass" : "skip";
  };
  const SIGNS = { pass: "✓", fail: "✗", known: "k", skip: "–" };

  const citing = (clause) => {
    const link = (entry) => [element("a", { class: "case", href: "#" + new URLSearchParams({ tab: "clauses",
      case: entry.id }) }, entry.id), " "];
    const list = (title, entries) => (entries.length ? element("div", {}, element("small", {},
      title + " " + entries.length + ": "),
      entries.slice(0, 6).flatMap(link), entries.length > 6 ? "…" : "") : null);
    if (clause.positive.length + clause.negative.length === 0) {
      return clause.untestable ? "untestable: " + clause.untestable : element("b", { class: "fail" }, "○ no case");
    }
    const none = clause.violable && clause.negative.length === 0 ? element("small", {}, "no negative case") : null;
    return element("div", {}, list("kept", clause.positive), list("violated", clause.negative), none);
  };

  const showClauses = () => {
    const wanted = words(find("clause-filter").value);
    const only = find("clause-state").value;
    const text = (clause) => [clause.id, clause.summary, clause.source, clause.scope, clause.family,
      clause.level].join("\n").toLowerCase();
    const all = data.clauses.filter((clause) => matches(text(clause), wanted) && (!only
      || clauseState(clause) === only));
    const shown = everyClause ? all : all.slice(0, ROWS);
    const row = (clause) => element("tr", {}, element("th", { scope: "row" }, clause.id), element("td", {},
      clause.summary),
      element("td", {}, clause.source), element("td", {}, clause.scope), element("td", {}, clause.level),
        element("td", {}, citing(clause)),
      clause.groups.map((name) => element("td", { class: "cell " + name },
        clause.positive.length + clause.negative.length ? SIGNS[name] + " " + (name === "skip" ? "not judged" : name)
        : "")));
    find("clause-list").tBodies[0].replaceChildren(...shown.map(row));
    const cited = data.clauses.filter((clause) => clause.positive.length + clause.negative.length > 0).length;
    find("clause-count").textContent = all.length + " of " + data.clauses.length + " clauses; " + cited + " are cited";
    find("clause-more").hidden = shown.length === all.length;
    find("clause-more").textContent = "show all " + all.length;
  };

  const showSaboteurs = () => {
    if (!find("saboteur-list")) return;
    const wanted = words(find("saboteur-filter").value);
    const text = (row) => [row.protocol, row.name, row.bug, row.source, row.killers.join(" ")].join("\n").toLowerCase();
    const all = data.saboteurs.filter((row) => matches(text(row), wanted));
    const link = (id) => [byName.has(id) ? element("a", { class: "case",
      href: "#" + new URLSearchParams({ tab: "saboteurs", case: id }) }, id) : id, " "];
    const row = (entry) => element("tr", {}, element("th", { scope: "row" }, entry.name, element("br"),
      element("small", {}, entry.protocol)),
      element("td", {}, entry.side), element("td", {}, entry.bug), element("td", {}, entry.source),
      element("td", { class: "number" }, entry.killers.length ? entry.killers.length + " of " + entry.judged
        : element("b", { class: "fail" }, "✗ SURVIVED")),
      element("td", {}, entry.killers.slice(0, 5).flatMap(link), entry.killers.length > 5 ? "…" : ""));
    find("saboteur-list").tBodies[0].replaceChildren(...all.map(row));
    find("saboteur-count").textContent = all.length + " of " + data.saboteurs.length + " saboteurs";
  };

  const sides = (rows) => {
    const first = rows.findIndex((row) => !row.same);
    const row = (entry, index) => element("tr", { class: entry.same ? "same" : index === first ? "first" : "other" },
      element("td", {}, entry.same ? "=" : index === first ? ">" : "!"),
      element("td", {}, entry.expected ?? "-"), element("td", {}, entry.got ?? "-"));
    return element("table", { class: "sides" },
      element("thead", {}, element("tr", {}, element("th"), element("th", {}, "expected"), element("th", {}, "got"))),
      element("tbody", {}, rows.map(row)));
  };

  const checkView = (check) => {
    const head = element("div", {}, element("b", { class: "cell " + group(check.verdict) },
      symbol(check.verdict) + " " + check.direction + ": " + check.verdict),
      check.place ? ` at packet ${check.place.packet}, byte ${check.place.byte ?? 0}.${check.place.bit ?? 0}` : "");
    const made = element("div", { class: "check" }, head);
    if (check.packet) made.append(element("div", {}, "packet ", element("code", {}, check.packet)));
    if (check.rows) made.append(sides(check.rows));
    else if (check.text) made.append(element("div", { class: "sentence" }, check.text));
    return made;
  };

  const lines = (title, list) => element("div", {}, element("small", {}, title), element("pre", {}, list.length
    ? list.join("\n") : "nothing"));
  // `marked`: the unit differs from its counterpart.
  const unitView = (unit, label, marked) => {
    const reference = unit.reference || [];
    const heading = element("b", {}, (marked ? "✗ " : "") + unit.heading);
    const made = element("div", { class: marked ? "unit differs" : "unit" }, heading);
    if (unit.fields) made.append(element("pre", { class: "fields" }, unit.fields.trimEnd()));
    if (unit.subject) {
      const sides = [lines("the reference reports", reference), lines(label + " reports", unit.subject)];
      made.append(element("div", { class: "pair" }, sides));
    } else if (reference.length) {
      made.append(element("pre", {}, reference.join("\n")));
    }
    if (unit.state) made.append(element("pre", { class: "state" }, unit.state.map((line) => "~ " + line).join("\n")));
    if (unit.reasons) made.append(element("small", {}, unit.reasons.join("; ")));
    return made;
  };

  const wireView = (wire) => element("pre", { class: "wire" }, wire.join("\n"));
  const encoderView = (evidence, label) => {
    const expected = { wire: evidence.wire || [], units: evidence.units || [] };
    const got = { wire: evidence.encoder.wire || [], units: evidence.encoder.units || [] };
    const side = (title, own, other) => element("div", {}, element("b", {}, title), wireView(own.wire),
      own.units.map((unit, index) =>
        unitView({ ...unit, subject: undefined }, label, unit.heading !== other.units[index]?.heading)));
    return element("details", { open: "" }, element("summary", {}, "Wire of the encoder, both sides"),
      element("div", { class: "pair" }, side("expected", expected, got), side(label, got, expected)));
  };

  const evidenceView = (evidence, label) => {
    const units = evidence.units || [];
    const made = [];
    if (evidence.conclusion) made.push(element("p", { class: "sentence" }, evidence.conclusion));
    if (evidence.encoder) made.push(encoderView(evidence, label));
    if (units.length) {
      const omitted = evidence.omitted ? element("p", {}, evidence.omitted + " more packets are not shown") : null;
      made.push(element("details", { open: "" },
        element("summary", {}, "Dissection, and what both decoders report"),
        units.map((unit) => unitView(unit, label, Boolean(unit.subject))), omitted));
    }
    if (!evidence.encoder && (evidence.wire || []).length) {
      made.push(element("details", {}, element("summary", {}, "Wire"), wireView(evidence.wire)));
    }
    return made;
  };

  const clauseView = (id) => {
    const clause = clauses.get(id);
    return element("li", {}, element("b", {}, id), " ", clause ? clause.summary : "",
      clause && clause.source ? element("small", {}, ` ${clause.source === "none" ? "no section" : clause.source}, `
        + `${clause.level}, scope ${clause.scope}`) : null);
  };

  const resultView = (entry, result, subject) => {
    const label = data.subjects[subject];
    const verdict = entry.worst[subject];
    const made = element("details", entry.groups[subject] === "fail" || entry.results.length === 1 ? { open: "" } : {},
      element("summary", {}, element("span", { class: "cell " + entry.groups[subject] }, verdict
        ? symbol(verdict) + " " : "– "), label));
    if (!result) made.append(element("p", {}, "not in this run"));
    else {
      made.append(...result.checks.map(checkView));
      if (!result.checks.length) made.append(element("p", {}, "nothing was judged"));
      made.append(...result.commands.map((command) => element("pre", { class: "command" }, command)));
      if (result.evidence) made.append(...evidenceView(result.evidence, label));
    }
    return made;
  };

  const drill = (entry) => {
    const meta = [entry.protocol, entry.level, entry.polarity, "revision " + entry.rev].map((text) => element("span",
      { class: "badge" }, text));
    const parts = [element("h2", {}, entry.id + "  " + entry.title), element("p", {}, ...meta, element("code", {},
      entry.path))];
    if (entry.catches) parts.push(element("p", {}, element("b", {}, "Catches: "), entry.catches));
    if (entry.clauses.length) parts.push(element("ul", { class: "clauses" }, entry.clauses.map(clauseView)));
    parts.push(...entry.results.map((result, subject) => resultView(entry, result, subject)));
    const kills = data.saboteurs.filter((row) => row.killers.includes(entry.id)).map((row) => row.name);
    if (kills.length) parts.push(element("p", {}, element("b", {}, "Detects saboteurs: "), kills.join(", ")));
    if (entry.source) parts.push(element("details", {}, element("summary", {}, "Source of the case"), element("pre",
      { class: "source" }, entry.source)));
    find("detail").replaceChildren(...parts);
    find("drill").scrollTop = 0;
  };

  let last = {};
  const show = () => {
    const at = state();
    const tab = TABS.includes(at.tab) ? at.tab : at.case && last.tab ? last.tab : "overview";
    at.tab = tab;
    for (const name of TABS) {
      find(name).classList.toggle("shown", name === tab);
      find("tab-" + name).setAttribute("aria-selected", String(name === tab));
    }
    if (data) {
      for (const id of ["filter", "verdict", "protocol", "level"]) {
        if (find(id).value !== (at[id] || "")) find(id).value = at[id] || "";
      }
      const changed = ["filter", "verdict", "protocol", "level"].some((key) => at[key] !== last[key]);
      if (tab === "matrix" && (changed || !find("cases").tBodies[0].rows.length)) showCases(at);
      if (tab === "clauses" && tab !== last.tab) showClauses();
      if (tab === "saboteurs" && tab !== last.tab) showSaboteurs();
      const entry = at.case ? byName.get(at.case) : null;
      find("drill").hidden = !entry;
      document.documentElement.classList.toggle("drilled", Boolean(entry));
      if (entry && at.case !== last.case) drill(entry);
      for (const row of find("cases").tBodies[0].rows) row.classList.toggle("current", row.dataset.case === at.case);
      last = at;
    }
  };

  const rows = () => {
    const section = document.querySelector("section.shown");
    return section
      ? [...section.querySelectorAll("tbody tr, details.cause > summary")].filter((row) => row.offsetParent) : [];
  };
  const step = (by) => {
    const all = rows();
    if (!all.length) return;
    current = Math.max(0, Math.min(all.length - 1, current + by));
    all.forEach((row, index) => row.classList.toggle("current", index === current));
    all[current].scrollIntoView({ block: "nearest" });
  };
  const open = () => {
    const row = rows()[current];
    if (!row) return;
    if (row.tagName === "SUMMARY") row.click();
    else if (row.dataset.case) go({ case: row.dataset.case });
    else row.querySelector("a")?.click();
  };
  // The next case after the open one, in the rows of the matrix.
  const another = (by) => {
    if (!shownCases.length) shownCases = data.cases.filter((entry) => fits(entry, words(state().filter), state()));
    const index = shownCases.findIndex((entry) => entry.id === state().case);
    const entry = shownCases[index + by];
    if (index >= 0 && entry) go({ case: entry.id });
  };
  const theme = () => {
    const dark = document.documentElement.dataset.theme
      ? document.documentElement.dataset.theme === "dark"
      : matchMedia("(prefers-color-scheme: dark)").matches;
    document.documentElement.dataset.theme = dark ? "light" : "dark";
    try { localStorage.setItem("traceproof-theme",
      document.documentElement.dataset.theme); } catch { /* no storage for this page */ }
  };
  const filterOf = { matrix: "filter", clauses: "clause-filter", saboteurs: "saboteur-filter" };
  const KEYS = {
    "/": () => { if (!filterOf[last.tab]) go({ tab: "matrix" }); setTimeout(() => find(filterOf[last.tab]
      || "filter")?.focus()); },
    j: () => step(1), ArrowDown: () => step(1), k: () => step(-1), ArrowUp: () => step(-1), Enter: open,
    n: () => another(1), p: () => another(-1), t: theme, "?": () => find("help").showModal(),
      Escape: () => go({ case: "" }),
  };
  const key = (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || find("help").open || !data) return;
    if (event.target.matches("input, select")) {
      if (event.key === "Escape") event.target.blur();
      return;
    }
    if (event.key === "Enter" && event.target.matches("a, button, summary")) return;
    const tab = TABS[Number(event.key) - 1];
    const act = tab ? () => go({ tab, case: "" }) : KEYS[event.key];
    if (!act) return;
    event.preventDefault();
    act();
  };

  const load = async () => {
    const bytes = Uint8Array.from(atob(find("data").textContent), (letter) => letter.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
    data = await new Response(stream).json();
    prepare();
    options(find("protocol"), distinct(data.cases.map((entry) => entry.protocol)));
    options(find("level"), distinct(data.cases.map((entry) => entry.level)));
    find("legend").textContent = Object.entries(data.kinds).map(([name, [sign]]) => sign + " " + name).join(" · ");
    find("filter").addEventListener("input", (event) => { everyRow = false; go({ filter: event.target.value },
      true); });
    for (const id of ["verdict", "protocol", "level"]) {
      find(id).addEventListener("change", (event) => { everyRow = false; go({ [id]: event.target.value }, true); });
    }
    find("more").addEventListener("click", () => { everyRow = true; showCases(state()); });
    find("clause-more").addEventListener("click", () => { everyClause = true; showClauses(); });
    find("clause-filter").addEventListener("input", showClauses);
    find("clause-state").addEventListener("change", showClauses);
    find("saboteur-filter")?.addEventListener("input", showSaboteurs);
    document.documentElement.dataset.ready = "yes";
    last = {};
    show();
  };

  document.documentElement.classList.add("scripted");
  try {
    const kept = localStorage.getItem("traceproof-theme");
    if (kept === "dark" || kept === "light") document.documentElement.dataset.theme = kept;
  } catch { /* no storage for this page */ }
  // A link to a case keeps the part that is shown.
  document.addEventListener("click", (event) => {
    const link = event.target.closest?.("a.case");
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
    const wanted = new URLSearchParams(link.getAttribute("href").slice(1));
    event.preventDefault();
    go(Object.fromEntries(wanted));
  });
  for (const form of document.querySelectorAll("form.controls")) form.addEventListener("submit",
    (event) => event.preventDefault());
  find("theme").addEventListener("click", theme);
  find("help-button").addEventListener("click", () => find("help").showModal());
  find("close").addEventListener("click", () => go({ case: "" }));
  document.addEventListener("keydown", key);
  window.addEventListener("hashchange", show);
  show();
  load().catch((error) => {
    find("count").textContent = "The cases cannot be read: " + error;
    document.documentElement.dataset.ready = "error";
  });
})();
