// On the page of failures: a box for a message. The entries with all its words stay, or else the
// five with most of the rare ones. What was searched for in the whole site is in the box already.
(() => {
  let searched = "";
  try { searched = localStorage.getItem("sphinx_highlight_terms") || ""; } catch { /* none kept */ }
  addEventListener("DOMContentLoaded", () => {
    const all = document.getElementById("all-of-them");
    if (!all || !document.getElementById("out-of-memory")) return;
    const entries = [];
    for (let at = all.nextElementSibling; at; at = at.nextElementSibling)
      if (at.matches("section")) entries.push({ at, text: at.textContent.toLowerCase() });
    const box = document.createElement("p");
    box.className = "course-filter";
    box.innerHTML = '<label for="message">A piece of your message</label>'
      + '<input id="message" type="search"><span role="status"></span>';
    document.querySelector("article h1").after(box);
    const [, input, status] = box.children;
    const show = () => {
      const words = [...new Set(input.value.toLowerCase().match(/[\w.]{3,}/g) || [])];
      const rare = words.map((word) =>
        [word, 1 / (1 + entries.filter((it) => it.text.includes(word)).length)]);
      const sum = (of) => of.reduce((total, [, weight]) => total + weight, 0);
      for (const it of entries) it.score = sum(rare.filter(([word]) => it.text.includes(word)));
      const ranked = [...entries].sort((a, b) => b.score - a.score);
      const whole = ranked.filter((it) => it.score > sum(rare) - 1e-9);
      const shown = whole.length ? whole : ranked.filter((it) => it.score > 0).slice(0, 5);
      for (const it of entries) it.at.hidden = words.length && !shown.includes(it);
      all.after(...(words.length ? ranked : entries).map((it) => it.at));
      for (const at of document.querySelectorAll("#how-good-is-it, #all-of-them"))
        at.hidden = words.length > 0;
      status.textContent = !words.length ? "" : whole.length
        ? `${whole.length} of ${entries.length} entries have these words.`
        : `No entry has all of these words. The ${shown.length} nearest:`;
    };
    input.addEventListener("input", show);
    if (searched && !location.hash) { input.value = searched; show(); }
  });
})();
