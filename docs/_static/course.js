addEventListener("DOMContentLoaded", () => {
  // A table of an output that scrolls within itself is reached with the keyboard.
  for (const at of document.querySelectorAll('.cell_output [style*="overflow-x"]')) at.tabIndex = 0;
  document.addEventListener("click", ({ target }) => {
    // On a phone contents and menu lie over the page: a link in them closes them.
    if (target.closest("dialog a[href]")) target.closest("dialog").close();
    // What was searched for goes along, so that the page of failures can begin with it.
    const hit = target.closest("#search-results a");
    const words = hit && new URLSearchParams(location.search).get("q");
    if (words) {
      const to = new URL(hit.href);
      to.searchParams.set("highlight", words);
      hit.href = to;
    }
  }, true);
});

// A box on the pages of failures and of words. Failures are shown only when they are asked for: those
// with all words, or with four in a row that few have, the best first; or else the nearest, if they
// have a rare word of the message.
(() => {
  const asked = new URLSearchParams(location.search).get("highlight");
  const MOST = 10; // at once; one more word leaves fewer
  const terms = (text) => text.toLowerCase().match(/\w+(?:\.\w+)*/g) || [];
  const plain = (parts) => terms(parts.map((at) => at.textContent).join(" ")).join(" ");

  function failure(at) {
    const said = plain([at.querySelector("pre")]);
    return { parts: [at], text: plain([at]), said, home: at.parentElement };
  }

  function word(told) {
    const parts = [told];
    while (parts[0].previousElementSibling?.matches("dt")) parts.unshift(parts[0].previousElementSibling);
    return { parts, text: plain(parts), said: "", letter: parts[0].textContent[0].toUpperCase() };
  }

  addEventListener("DOMContentLoaded", () => {
    const all = document.querySelector("#all-of-them:has(#out-of-memory)");
    const entries = all ? [...all.querySelectorAll(":scope > section > section")].map(failure)
      : [...document.querySelectorAll("#glossary dl.glossary dd")].map(word);
    if (!entries.length) return;
    const letters = all ? [] : [...new Set(entries.map((it) => it.letter))].sort();
    const form = document.createElement("form");
    form.className = "course-filter";
    form.innerHTML = `<label for="message">${all ? "A piece of your message" : "A word"}</label>
      <p><input id="message" type="search" autocomplete="off"><button type="reset">Clear</button>
      <button type="button" value="">Show all ${entries.length}</button></p>
      <p>${letters.map((it) => `<button type="button" value="${it}">${it}</button>`).join(" ")}</p>
      <p role="status"></p>
      <p hidden>Give the doctor the whole message, it knows more wordings:
      <code>python -m accel_helpers diagnose FILE</code> in a shell.</p>`;
    document.querySelector("article h1 ~ p").after(form);
    const [input, status, next] = ["input", "[role]", "[hidden]"].map((at) => form.querySelector(at));
    const open = (these, said) => {
      for (const it of entries) for (const part of it.parts) part.hidden = !these.includes(it);
      // Some stand together, the best first; all of them stand in their groups again.
      const some = these.length < entries.length;
      if (all) for (const it of some ? these : entries) (some ? all : it.home).append(...it.parts);
      all?.classList.toggle("some", some);
      status.textContent = said;
      next.hidden = !said.startsWith("This page doesn't");
    };
    const show = () => {
      const typed = terms(input.value), words = typed.filter((it) => it.length > 2);
      const at = document.getElementById(decodeURIComponent(location.hash.slice(1)));
      const here = entries.find((it) => all && at && it.parts[0].contains(at));
      const group = entries.filter((it) => at && it.home === at);
      if (!words.length && group.length) open(group, `${group.length} of ${entries.length}.`);
      else if (!words.length && here) open([here], `1 of ${entries.length}: what the link named.`);
      else if (!words.length) open(all && location.hash !== "#all-of-them" ? [] : entries, "");
      if (!words.length) return;
      // A word weighs the more the fewer entries have it, and so do two that follow each other.
      const pieces = [...new Set([...words, ...typed.slice(1).map((it, n) => `${typed[n]} ${it}`)])];
      const count = (piece, key) => entries.filter((it) => it[key].includes(piece)).length;
      const weights = pieces.map((piece) => [piece, 1 / (1 + count(piece, "text"))]);
      const score = (it) => weights.reduce((sum, [piece, weight]) =>
        sum + weight * (it.text.includes(piece) + 2 * it.said.includes(piece)), 0);
      const best = entries.map((it) => [score(it), it]).sort(([a], [b]) => b - a).map(([, it]) => it);
      const runs = typed.slice(3).map((it, n) => typed.slice(n, n + 4).join(" "))
        .filter((run) => count(run, "said") < 4);
      const full = best.filter((it) => words.every((one) => it.text.includes(one))
        || runs.some((run) => it.said.includes(run)));
      const rare = words.filter((it) => /[a-z]{5}/.test(it) && count(it, "said") < 4);
      const near = best.filter((it) => rare.some((one) => it.said.includes(one))).slice(0, 3);
      if (full.length) open(full.slice(0, MOST), `${full.length} of ${entries.length} have your words.`
        + (full.length > MOST ? ` The ${MOST} best:` : ""));
      else open(near, "This page doesn't know it." + (near.length ? " Below: the nearest, by a rare word." : ""));
      next.hidden ||= !all;
    };
    form.addEventListener("submit", (event) => event.preventDefault());
    form.addEventListener("reset", () => setTimeout(show));
    form.addEventListener("click", ({ target }) => {
      if (target.type !== "button") return;
      input.value = "";
      open(entries.filter((it) => !target.value || it.letter === target.value), "");
    });
    input.addEventListener("input", show);
    addEventListener("hashchange", () => {
      input.value = "";
      show();
      document.querySelector(":target")?.scrollIntoView();
    });
    if (asked && !location.hash) input.value = asked;
    show();
    if (location.hash) document.querySelector(":target")?.scrollIntoView();
  });
})();
