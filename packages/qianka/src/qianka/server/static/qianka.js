// Live pages: at each event the page is asked for again and its #live part replaced. Without this script pages work too.
"use strict";
(() => {
  const zh = document.body.dataset.language === "zh";
  const units = [[86400, zh ? " 天" : " d"], [3600, zh ? " 小时" : " h"], [60, zh ? " 分" : " min"]];

  function span(seconds) {
    const parts = [];
    for (const [size, name] of units) {
      const count = Math.floor(seconds / size);
      if (count > 0 && parts.length < 2) { parts.push(count + name); }
      seconds -= count * size;
    }
    return parts.join(" ") || (zh ? "不到 1 分" : "under 1 min");
  }

  function count() {
    for (const place of document.querySelectorAll(".countdown")) {
      const time = place.parentElement.querySelector("time");
      if (time === null) { continue; }
      const left = (new Date(time.dateTime) - Date.now()) / 1000;
      place.textContent = left > 0 ? (zh ? "还有 " : "in ") + span(left) : (zh ? "已截止" : "past");
    }
  }

  let asking = false;
  let again = false;
  async function renew() {
    if (asking) { again = true; return; }
    asking = true;
    try {
      do {
        again = false;
        const answer = await fetch(location.href, { headers: { "Accept": "text/html" } });
        if (!answer.ok) { break; }
        const page = new DOMParser().parseFromString(await answer.text(), "text/html");
        const fresh = page.getElementById("live");
        const shown = document.getElementById("live");
        if (fresh !== null && shown !== null) { shown.replaceWith(document.adoptNode(fresh)); }
        if (!page.body.dataset.topics && source !== null) { source.close(); source = null; }
        if (again) { await new Promise((done) => setTimeout(done, 300)); }
      } while (again);
    } finally {
      asking = false;
    }
  }

  let source = null;
  const topics = document.body.dataset.topics;
  if (topics) {
    source = new EventSource("/api/events?topics=" + encodeURIComponent(topics));
    source.onmessage = renew;
    // The learning curve grows without events.
    setInterval(() => {
      if (!document.hidden && document.querySelector(".stage.running") !== null) { renew(); }
    }, 5000 + Math.random() * 1000);
  }
  count();
  setInterval(count, 30000);
})();
