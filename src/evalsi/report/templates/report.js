// Conveniences only: the page says everything without this script.
(() => {
  "use strict";
  const cases = [...document.querySelectorAll("details.case")];
  const filter = document.getElementById("filter");
  const help = document.getElementById("help");
  const keys = document.getElementById("keys");
  for (const hidden of document.querySelectorAll(".tools, .copy")) hidden.hidden = false;
  if (!cases.length) filter.hidden = true;

  const shown = () => cases.filter((one) => !one.hidden && !(one.closest(".more") && !one.closest(".more").open));
  const current = () => document.activeElement && document.activeElement.closest("details.case");

  function step(by) {
    const list = shown();
    if (!list.length) return;
    const at = list.indexOf(current());
    const next = list[at < 0 ? (by > 0 ? 0 : list.length - 1) : Math.min(list.length - 1, Math.max(0, at + by))];
    next.querySelector("summary").focus({ preventScroll: true });
    next.scrollIntoView({ block: "nearest" });
  }

  function narrow() {
    const words = filter.value.toLowerCase().split(/\s+/).filter(Boolean);
    for (const one of cases) {
      const text = one.textContent.toLowerCase();
      one.hidden = !words.every((word) => text.includes(word));
      if (words.length && !one.hidden && one.closest(".more")) one.closest(".more").open = true;
    }
    const none = document.querySelector(".none");
    if (none) none.hidden = shown().length > 0;
  }

  function toggleHelp() {
    keys.hidden = !keys.hidden;
    help.setAttribute("aria-expanded", String(!keys.hidden));
  }

  filter.addEventListener("input", narrow);
  help.addEventListener("click", toggleHelp);
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.target === filter) {
      if (event.key === "Escape") { filter.value = ""; narrow(); filter.blur(); }
      return;
    }
    if (event.key === "j") step(1);
    else if (event.key === "k") step(-1);
    else if (event.key === "/" && cases.length) { event.preventDefault(); filter.focus(); }
    else if (event.key === "?") toggleHelp();
    else if (event.key === "Escape") { keys.hidden = true; help.setAttribute("aria-expanded", "false"); }
    else if (event.key === "r" && current()) {
      const raw = current().querySelector("details.raw");
      current().open = true;
      raw.open = !raw.open;
      if (raw.open) raw.scrollIntoView({ block: "nearest" });
    }
  });

  for (const button of document.querySelectorAll(".copy")) {
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

  let folded = [];
  addEventListener("beforeprint", () => {
    folded = [...document.querySelectorAll("details.case:not([open]), details.more:not([open])")];
    for (const one of folded) one.open = true;
  });
  addEventListener("afterprint", () => { for (const one of folded) one.open = false; });

  const aimed = location.hash && document.getElementById(location.hash.slice(1));
  if (aimed && aimed.matches("details.case")) aimed.open = true;
})();
