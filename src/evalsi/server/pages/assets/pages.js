// Conveniences only: every page can be read and used without this script.
(() => {
  "use strict";
  const help = document.getElementById("help");
  const keys = document.getElementById("keys");
  help.hidden = false;

  function toggleHelp(open = keys.hidden) {
    keys.hidden = !open;
    help.setAttribute("aria-expanded", String(open));
  }
  help.addEventListener("click", () => toggleHelp());

  const rows = () => [...document.querySelectorAll("[data-row]")];
  const opener = (row) => row.querySelector("[data-open]");
  let here = "";
  const nameOf = (row) => {
    const target = opener(row);
    return (target && target.getAttribute("href")) || String(rows().indexOf(row));
  };

  function choose(row) {
    for (const other of document.querySelectorAll(".here")) other.classList.remove("here");
    if (!row) return;
    row.classList.add("here");
    here = nameOf(row);
    const target = opener(row);
    if (target) target.focus({ preventScroll: true });
    row.scrollIntoView({ block: "nearest" });
  }

  function step(by) {
    const list = rows();
    if (!list.length) return;
    const at = list.findIndex((row) => row.classList.contains("here"));
    choose(list[at < 0 ? (by > 0 ? 0 : list.length - 1) : Math.min(list.length - 1, Math.max(0, at + by))]);
  }

  const go = (link) => { if (link) link.click(); };
  const actions = {
    j: () => step(1),
    k: () => step(-1),
    x: () => {
      const box = document.querySelector(".here input[type=checkbox]");
      if (box) box.checked = !box.checked;
    },
    "[": () => go(document.querySelector("a[rel=prev]")),
    "]": () => go(document.querySelector("a[rel=next]")),
    u: () => go(document.querySelector("[data-up]")),
    r: () => {
      const raw = document.querySelector("details.raw");
      if (!raw) return;
      raw.open = !raw.open;
      if (raw.open) raw.scrollIntoView({ block: "nearest" });
    },
    "/": () => {
      const field = document.querySelector("[data-search]");
      if (field) { field.focus(); field.select(); }
    },
    "?": () => toggleHelp(),
    Escape: () => toggleHelp(false),
  };
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.target.matches("input, select, textarea")) {
      if (event.key === "Escape") event.target.blur();
      return;
    }
    const action = actions[event.key];
    if (!action) return;
    event.preventDefault();
    action();
  });

  async function bringLater(root) {
    for (const place of root.querySelectorAll("[data-later]")) {
      const answer = await fetch(place.dataset.later, { headers: { accept: "text/html" } });
      if (!answer.ok) continue;
      const part = new DOMParser().parseFromString(await answer.text(), "text/html");
      place.replaceWith(...part.body.children);
    }
  }

  function ready(root) {
    bringLater(root);
    for (const button of root.querySelectorAll(".copy")) {
      button.hidden = false;
      button.addEventListener("click", async () => {
        const command = button.parentElement.querySelector(".command");
        try {
          await navigator.clipboard.writeText(command.textContent);
          button.textContent = "copied";
        } catch {
          getSelection().selectAllChildren(command);
          button.textContent = "selected";
        }
        setTimeout(() => { button.textContent = "copy"; }, 1500);
      });
    }
    for (const file of root.querySelectorAll("[data-fills]")) {
      file.closest("[hidden]")?.removeAttribute("hidden");
      file.addEventListener("change", async () => {
        const large = file.files.length && file.files[0].size > Number(file.dataset.most);
        file.setCustomValidity(large ? "The file is too large for a form: evalsi dataset put NAME FILE takes it." : "");
        if (large) file.reportValidity();
        if (large || !file.files.length) return;
        file.form.elements[file.dataset.fills].value = await file.files[0].text();
        const name = file.form.elements.name;
        if (!name.value) name.value = file.files[0].name.replace(/\.[^.]*$/, "").toLowerCase().replace(/[^a-z0-9._-]+/g, "-");
      });
    }
    for (const select of root.querySelectorAll(".filters[role=search] select")) {
      select.addEventListener("change", () => select.form.requestSubmit());
    }
  }
  ready(document);

  document.addEventListener("submit", (event) => {
    const asks = event.submitter && event.submitter.dataset.confirm;
    if (asks && !confirm(asks)) event.preventDefault();
    // Fields left empty stay out of the address.
    if (event.target.method === "get") {
      for (const field of event.target.elements) if (field.name && !field.value) field.disabled = true;
    }
  });
  addEventListener("pageshow", () => {
    for (const field of document.querySelectorAll("form :disabled")) field.disabled = false;
  });

  let source = null;
  async function refresh() {
    const answer = await fetch(location.href, { headers: { accept: "text/html" } });
    if (!answer.ok) return;
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    const now = document.getElementById("content");
    const next = page.getElementById("content");
    if (!next || now.contains(document.activeElement) && document.activeElement.matches("input, select")) return;
    const chosen = new Set([...now.querySelectorAll("input[name=run]:checked")].map((box) => box.value));
    now.replaceWith(document.adoptNode(next));
    document.title = page.title;
    for (const box of next.querySelectorAll("input[name=run]")) box.checked = chosen.has(box.value);
    ready(next);
    const row = rows().find((one) => nameOf(one) === here);
    if (row) choose(row);
    listen();
  }

  function listen() {
    const live = document.querySelector("[data-live]");
    if (source && source.address === (live && live.dataset.live)) return;
    if (source) source.close();
    source = null;
    if (!live) return;
    source = new EventSource(live.dataset.live);
    source.address = live.dataset.live;
    source.addEventListener("changed", refresh);
    source.addEventListener("progress", (event) => {
      const { done, total } = JSON.parse(event.data);
      for (const bar of document.querySelectorAll(".big-progress progress")) {
        if (total) { bar.max = total; bar.value = done; }
      }
      for (const text of document.querySelectorAll(".big-progress [data-done]")) text.textContent = done.toLocaleString("en");
    });
    source.addEventListener("end", () => { source.close(); source = null; refresh(); });
  }
  listen();
  addEventListener("pagehide", () => { if (source) source.close(); });
})();
