// The viewer's one script: theme, keyboard, live parts, quick find. Pages are whole without it.
"use strict";
(() => {
  const root = document.documentElement;
  const kept = (() => { try { return localStorage.getItem("whet-theme"); } catch { return null; } })();
  if (kept === "dark" || kept === "light") root.dataset.theme = kept;

  const turn = () => {
    const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
    root.dataset.theme = dark ? "light" : "dark";
    try { localStorage.setItem("whet-theme", root.dataset.theme); } catch { /* a browser that keeps nothing */ }
  };

  const find = (selector) => document.querySelector(selector);
  const rows = () => [...document.querySelectorAll("table.rows tbody tr")].filter((row) => !row.hidden);
  let at = -1;

  const select = (step) => {
    const listed = rows();
    if (!listed.length) {
      const near = find(step > 0 ? "a[rel=next]" : "a[rel=prev]");
      if (near) near.click();
      return;
    }
    listed.forEach((row) => row.classList.remove("on"));
    at = Math.min(Math.max(at + step, 0), listed.length - 1);
    listed[at].classList.add("on");
    const link = listed[at].querySelector("a");
    if (link) link.focus({ preventScroll: true });
    listed[at].scrollIntoView({ block: "nearest" });
  };

  const quickFind = () => {
    const box = find("#find[data-rows]");
    if (!box) return;
    const wanted = box.value.trim().toLowerCase();
    document.querySelectorAll("table.rows tbody tr").forEach((row) => {
      row.hidden = wanted !== "" && !row.textContent.toLowerCase().includes(wanted);
    });
  };

  const keys = (event) => {
    const typing = /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName) && event.target.type !== "checkbox";
    if (event.key === "Escape" && typing) { event.target.blur(); return; }
    if (typing || event.ctrlKey || event.metaKey || event.altKey) return;
    const acts = {
      j: () => select(1),
      k: () => select(-1),
      x: () => { const row = rows()[at]; const box = row && row.querySelector("input[type=checkbox]"); if (box) box.click(); },
      "/": () => { const box = find("#find"); if (box) box.focus(); },
      g: () => { location.href = "/"; },
      t: turn,
      "?": () => { const list = find("#keys"); if (list.open) list.close(); else list.showModal(); },
    };
    const act = acts[event.key];
    if (act) { event.preventDefault(); act(); }
  };

  // A part that moved is fetched with its page and put in the place of the old one; scripts in it would never run.
  let fetching = false;
  let again = false;
  const refresh = async () => {
    if (fetching) { again = true; return; }
    fetching = true;
    try {
      const answer = await fetch(location.href, { headers: { accept: "text/html" } });
      if (!answer.ok) return;
      const fresh = new DOMParser().parseFromString(await answer.text(), "text/html");
      const marked = new Set([...document.querySelectorAll("input[name=run]:checked")].map((box) => box.value));
      const focus = document.activeElement && document.activeElement.getAttribute("href");
      const fresh_parts = [...fresh.querySelectorAll("[data-live][id]")];
      const opened = new Set([...document.querySelectorAll("details[open] > summary")].map((line) => line.textContent));
      for (const [index, part] of fresh_parts.entries()) {
        const old = document.getElementById(part.id);
        if (old && old.innerHTML !== part.innerHTML) old.replaceWith(document.importNode(part, true));
        else if (!old) {
          const before = fresh_parts.slice(0, index).reverse().map((known) => document.getElementById(known.id)).find(Boolean);
          if (before) before.after(document.importNode(part, true));
        }
      }
      document.querySelectorAll("input[name=run]").forEach((box) => { if (marked.has(box.value)) box.checked = true; });
      document.querySelectorAll("details").forEach((box) => {
        const line = box.querySelector("summary");
        if (line && opened.has(line.textContent)) box.open = true;
      });
      if (focus && focus !== document.activeElement.getAttribute("href")) {
        const link = [...document.querySelectorAll("main a")].find((known) => known.getAttribute("href") === focus);
        if (link) link.focus({ preventScroll: true });
      }
      quickFind();
      if (at >= 0 && rows()[at]) rows()[at].classList.add("on");
      const pulse = find("#pulse");
      if (pulse) pulse.textContent = `updated ${new Date().toLocaleTimeString()}`;
    } catch { /* the viewer was ended; the stream tries again */ } finally {
      fetching = false;
      if (again) { again = false; setTimeout(refresh, 300); }
    }
  };

  document.addEventListener("DOMContentLoaded", () => {
    find("#theme").addEventListener("click", turn);
    const list = find("#keys");
    find("#help").addEventListener("click", () => list.showModal());
    find("#close").addEventListener("click", () => list.close());
    document.addEventListener("keydown", keys);
    const box = find("#find[data-rows]");
    if (box) box.addEventListener("input", quickFind);
    document.querySelectorAll("form.auto select, form.auto input[type=checkbox]").forEach((field) => {
      field.addEventListener("change", () => field.form.requestSubmit());
    });
    document.querySelectorAll("form").forEach((form) => form.addEventListener("submit", () => {
      form.querySelectorAll("select, input[type=text]").forEach((field) => { if (!field.value) field.disabled = true; });
    }));
    const live = document.body.dataset.liveRun;
    if (live !== undefined && typeof EventSource !== "undefined") {
      const stream = new EventSource(`/events?run=${encodeURIComponent(live)}`);
      stream.addEventListener("moved", refresh);
      addEventListener("pagehide", () => stream.close());
    }
  });
})();
