"use strict";
(() => {
  const AT_ONCE = 6; // requests under way
  const PATIENCE = 20; // seconds for one of them
  const EVERY = 5; // seconds between automatic refreshes
  const SHOWN = 200; // endpoints in a table; the JSON has them all
  const WORDS = { failing: "Failing", stale: "Stale", empty: "Empty", serving: "Serving", waiting: "Waiting" };

  const at = (id) => document.getElementById(id);
  const make = (tag, className = "", text = "") => {
    const element = document.createElement(tag);
    element.className = className;
    element.textContent = text;
    return element;
  };
  const shape = () => {
    const element = make("span", "shape");
    element.setAttribute("aria-hidden", "true");
    return element;
  };
  const count = (number, what) => `${number.toLocaleString("en")} ${what}${number === 1 ? "" : "s"}`;
  const duration = (seconds) => {
    const whole = Math.max(0, Math.floor(seconds));
    const parts = [[Math.floor(whole / 86400), "d"], [Math.floor(whole / 3600) % 24, "h"],
      [Math.floor(whole / 60) % 60, "min"], [whole % 60, "s"]];
    const first = parts.findIndex(([number]) => number > 0);
    const shown = first < 0 ? parts.slice(3) : parts.slice(first, first + 2).filter(([number]) => number > 0);
    return shown.map((part) => part.join(" ")).join(" ");
  };

  // One row a service, as the document lists them.
  const rows = Array.from(document.querySelectorAll("#services > li > a"), (link) => {
    const row = {
      item: link.parentElement, url: link.href, name: link.textContent, busy: false, open: false,
      state: "waiting", total: 0, endpoints: [], tag: null, readAt: null, note: "",
      pill: make("span", "state waiting"), word: make("span", "", WORDS.waiting),
      count: make("button", "count"), age: make("span", "age"), why: make("p", "note"), list: make("div", "list"),
    };
    row.pill.append(shape(), row.word);
    row.count.type = "button";
    row.count.hidden = row.list.hidden = true;
    row.count.addEventListener("click", () => {
      row.open = !row.open;
      showEndpoints(row);
    });
    row.item.prepend(row.pill);
    row.item.append(row.count, row.age, row.why, row.list);
    return row;
  });
  const rowOf = new Map(rows.map((row) => [row.item, row]));

  // What an answer says of its service.
  const read = async (answer) => {
    const body = await answer.json();
    if (!answer.ok) {
      const gone = answer.status === 404 ? ". The services have changed since this page was loaded: load it again" : "";
      return { state: "failing", note: (body.error ?? `status ${answer.status}`) + gone };
    }
    const said = {
      state: body.length ? "serving" : "empty", total: body.length, endpoints: body.slice(0, SHOWN),
      tag: answer.headers.get("ETag"), readAt: Date.now() - 1000 * Number(answer.headers.get("Age")),
    };
    const stale = answer.headers.get("Vigie-Stale");
    if (stale === null) return said;
    const note = `Stale for ${duration(Number(stale))}: ${answer.headers.get("Vigie-Error")}`;
    return { ...said, state: "stale", note };
  };

  const ask = async (row) => {
    const abort = new AbortController();
    const timer = setTimeout(() => abort.abort(), PATIENCE * 1000);
    row.busy = true;
    try {
      show(row, await read(await fetch(row.url, { signal: abort.signal, cache: "no-store", redirect: "error" })));
    } catch (error) {
      const note = abort.signal.aborted ? `no answer within ${PATIENCE} s`
        : error instanceof SyntaxError ? "the answer is not one of Vigie's"
        : "Vigie cannot be reached: see whether it runs";
      show(row, { state: "failing", note });
    } finally {
      clearTimeout(timer);
      row.busy = false;
    }
  };

  const show = (row, said) => {
    const same = row.tag !== null && row.tag === said.tag;
    Object.assign(row, { total: 0, endpoints: [], tag: null, readAt: null, note: "" }, said);
    row.pill.className = `state ${row.state}`;
    row.word.textContent = WORDS[row.state];
    // The row says itself which service it is about.
    row.why.textContent = row.note.replace(`service ${row.name}: `, "");
    showAge(row);
    if (!same) showEndpoints(row);
    changed();
  };

  const showAge = (row) => {
    row.age.textContent = row.readAt === null ? "" : `${duration((Date.now() - row.readAt) / 1000)} old`;
  };

  const showEndpoints = (row) => {
    row.count.textContent = count(row.total, "endpoint");
    row.count.setAttribute("aria-label", `${row.count.textContent} of ${row.name}`);
    row.count.hidden = row.total === 0;
    row.count.setAttribute("aria-expanded", String(row.open));
    row.list.hidden = !row.open || row.total === 0;
    row.list.replaceChildren(...(row.list.hidden ? [] : [table(row)]));
  };

  const table = (row) => {
    const line = (tag, cells) => {
      const element = make("tr");
      element.append(...cells.map((text) => make(tag, "", text)));
      return element;
    };
    const [element, head, body] = [make("table"), make("thead"), make("tbody")];
    const left = row.total - row.endpoints.length;
    const caption = left > 0
      ? make("caption", "", `The first ${SHOWN} of ${count(row.total, "endpoint")}; the JSON has them all`)
      : make("caption", "unseen", `Endpoints of ${row.name}`);
    head.append(line("th", ["Address", "Port", "Weight"]));
    for (const cell of head.firstChild.children) cell.scope = "col";
    body.append(...row.endpoints.map((one) => line("td", [one.ip, one.port, one.load_balancing_weight])));
    element.append(caption, head, body);
    return element;
  };

  // The filters, and how many services are in each state.
  const chips = new Map();
  let chosen = "all";
  for (const [state, word] of Object.entries({ all: "All", ...WORDS })) {
    const chip = make("button", state);
    chip.type = "button";
    const number = make("span", "number");
    if (state !== "all") chip.append(shape());
    chip.append(make("span", "", word), number);
    chip.addEventListener("click", () => {
      chosen = state;
      summarize();
    });
    chips.set(state, { chip, number });
    at("states").append(chip);
  }

  const summarize = () => {
    const counts = { all: rows.length };
    const words = at("filter").value.toLowerCase();
    let shown = 0;
    for (const row of rows) {
      counts[row.state] = (counts[row.state] ?? 0) + 1;
      const hidden = (chosen !== "all" && row.state !== chosen) || !row.name.toLowerCase().includes(words);
      if (row.item.hidden !== hidden) row.item.hidden = hidden;
      if (!hidden) shown += 1;
    }
    for (const [state, { chip, number }] of chips) {
      number.textContent = (counts[state] ?? 0).toLocaleString("en");
      chip.setAttribute("aria-pressed", String(state === chosen));
      chip.hidden = state === "waiting" && !counts.waiting && chosen !== state;
    }
    at("nothing").hidden = shown > 0 || rows.length === 0;
    return counts;
  };

  // Many answers in one frame are counted once.
  let pending = false;
  const changed = () => {
    if (pending) return;
    pending = true;
    setTimeout(() => {
      pending = false;
      summarize();
    }, 50);
  };

  // Requests: those in sight first, so many at once, each service once a round.
  const [queue, inSight] = [new Set(), new Set()];
  let [running, timer] = [0, 0];
  const pick = () => {
    for (const row of inSight) if (queue.has(row)) return row;
    return queue.values().next().value;
  };
  const goOn = () => {
    while (running < AT_ONCE && queue.size) {
      const row = pick();
      queue.delete(row);
      running += 1;
      ask(row).finally(() => {
        running -= 1;
        goOn();
      });
    }
    if (running === 0) rest();
  };
  const refresh = () => {
    clearTimeout(timer);
    for (const row of rows) if (!row.busy) queue.add(row);
    document.body.dataset.asking = "";
    goOn();
  };

  // A round is over. Only what is new is said again to those who listen.
  const rest = () => {
    const counts = summarize();
    const states = Object.keys(WORDS).filter((state) => counts[state]).map((state) => `${counts[state].toLocaleString("en")} ${state}`);
    const summary = [count(rows.length, "service"), states.join(", ")].filter(Boolean).join(": ");
    if (at("summary").textContent !== summary) at("summary").textContent = summary;
    document.title = counts.failing ? `Vigie: ${counts.failing} failing` : "Vigie";
    at("checked").textContent = `checked at ${new Date().toLocaleTimeString("en-GB")}`;
    delete document.body.dataset.asking;
    schedule();
  };
  const schedule = () => {
    clearTimeout(timer);
    if (at("auto").checked && !document.hidden && running === 0) timer = setTimeout(refresh, EVERY * 1000);
  };

  const sight = new IntersectionObserver((entries) => {
    for (const { target, isIntersecting } of entries) {
      if (isIntersecting) inSight.add(rowOf.get(target));
      else inSight.delete(rowOf.get(target));
    }
  });
  for (const row of rows) sight.observe(row.item);
  setInterval(() => {
    if (!document.hidden) inSight.forEach(showAge);
  }, 1000);
  at("filter").addEventListener("input", summarize);
  at("refresh").addEventListener("click", refresh);
  at("auto").addEventListener("change", schedule);
  document.addEventListener("visibilitychange", schedule);
  at("tools").hidden = false;
  refresh();
})();
