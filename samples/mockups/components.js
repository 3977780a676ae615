/*
 * Parts that every Wrendesk screen shares, as custom elements in the light DOM:
 *   <app-icon name="filter">                            one inline SVG icon, drawn with the text colour
 *   <app-shell section="Settings" crumbs="Settings > …"> navigation rail, top bar and the page inside it
 *   <settings-nav current="SLA policies">               second-level navigation of the settings pages
 */

/* 24 x 24 outlines; a path that needs filling is marked with "fill:". */
const ICONS = {
  tickets: "M4 5h16v10h-5l-1 3h-4l-1-3H4z M4 15V5 M20 15v4H4v-4",
  customers: "M9 11a3.5 3.5 0 1 0 0-7 3.5 3.5 0 0 0 0 7z M2.5 20c0-4 3-6 6.5-6s6.5 2 6.5 6 M16 4.3a3.5 3.5 0 0 1 0 6.4 M18 14.3c2.2.8 3.5 2.7 3.5 5.7",
  knowledge: "M12 6c-2-1.5-5-2-8-2v14c3 0 6 .5 8 2 2-1.5 5-2 8-2V4c-3 0-6 .5-8 2z M12 6v14",
  reports: "M4 20V4 M4 20h16 M8.5 16v-5 M13 16V7 M17.5 16v-3",
  settings: "M12 15.500a3.5 3.5 0 1 0 0-7 3.5 3.5 0 0 0 0 7z M12 2.500v3 M12 18.500v3 M2.5 12h3 M18.5 12h3 M5.3 5.300l2.1 2.1 M16.6 16.600l2.1 2.1 M5.3 18.700l2.1-2.1 M16.6 7.400l2.1-2.1",
  search: "M11 18a7 7 0 1 0 0-14 7 7 0 0 0 0 14z M16 16l5 5",
  plus: "M12 5v14 M5 12h14",
  filter: "M3 5h18l-7 8.500V20l-4-2v-4.500z",
  bookmark: "M6 3h12v18l-6-4.500L6 21z",
  bolt: "fill:M13 2L4 14h6l-1 8 9-12h-6z",
  attach: "M20 11l-8.5 8.500a5 5 0 0 1-7-7L13 4a3.3 3.3 0 0 1 4.7 4.700L9.5 17a1.7 1.7 0 0 1-2.4-2.400L14.5 7",
  note: "M5 3h10l4 4v14H5z M15 3v4h4 M8.5 12h7 M8.5 16h5",
  more: "fill:M12 7.200a1.7 1.7 0 1 0 0-3.4 1.7 1.7 0 0 0 0 3.400z M12 13.700a1.7 1.7 0 1 0 0-3.4 1.7 1.7 0 0 0 0 3.400z M12 20.200a1.7 1.7 0 1 0 0-3.4 1.7 1.7 0 0 0 0 3.400z",
  drag: "fill:M9 6.500a1.5 1.5 0 1 0 0-3 1.5 1.5 0 0 0 0 3z M15 6.500a1.5 1.5 0 1 0 0-3 1.5 1.5 0 0 0 0 3z M9 13.500a1.5 1.5 0 1 0 0-3 1.5 1.5 0 0 0 0 3z M15 13.500a1.5 1.5 0 1 0 0-3 1.5 1.5 0 0 0 0 3z M9 20.500a1.5 1.5 0 1 0 0-3 1.5 1.5 0 0 0 0 3z M15 20.500a1.5 1.5 0 1 0 0-3 1.5 1.5 0 0 0 0 3z",
  right: "M9 5l7 7-7 7",
  left: "M15 5l-7 7 7 7",
  up: "M5 15l7-7 7 7",
  down: "M5 9l7 7 7-7",
  home: "M3 11l9-8 9 8 M6 9v11h12V9 M10 20v-6h4v6",
  close: "M6 6l12 12 M18 6L6 18",
  check: "M4 12.500l5.5 5.500L20 6.5",
  warning: "M12 3.500L2.5 20.500h19z M12 10v5 M12 17.500v.5",
  info: "M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18z M12 11v6 M12 7.500v.5",
  clock: "M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18z M12 7v5.500l3.5 2",
  mail: "M3 5h18v14H3z M3 6l9 7.500L21 6",
  chat: "M4 4h16v12H10l-5 4.500V16H4z",
  globe: "M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18z M3 12h18 M12 3c3 3 3 15 0 18 M12 3c-3 3-3 15 0 18",
  tag: "M3 3h9l9 9-9 9-9-9z M7.5 7.500v.5",
  trash: "M4 6.500h16 M9 6.500V4h6v2.5 M6 6.500l1 14h10l1-14 M10 10.500v6 M14 10.500v6",
  refresh: "M20 11a8 8 0 1 0-2 6.5 M20 4v7h-7",
  download: "M12 3v12 M6.5 10l5.5 5.500L17.5 10 M4 20h16",
  calendar: "M4 5h16v16H4z M4 10h16 M8 2.500v5 M16 2.500v5",
  key: "M8 16a4.5 4.5 0 1 0 0-9 4.5 4.5 0 0 0 0 9z M12.5 11.500H21v4 M17 11.500v3",
  webhook: "M9 9a4 4 0 1 1 5.5 1l2.5 5 M9.5 6l-3.5 7 M6 13a4 4 0 1 0 4 4h6.5 M17 21a4 4 0 1 0-1-7.9",
  pencil: "M4 20l1-5L16 4l4 4L9 19z M13.5 6.500l4 4",
  eye: "M2 12c3-5 6.5-7 10-7s7 2 10 7c-3 5-6.5 7-10 7s-7-2-10-7z M12 15.200a3.2 3.2 0 1 0 0-6.4 3.2 3.2 0 0 0 0 6.400z",
  bell: "M6 17V11a6 6 0 0 1 12 0v6l1.5 2h-15z M10 21.500h4",
  bulb: "M8.5 15a6 6 0 1 1 7 0v2h-7z M9.5 20.5h5",
  list: "M9 6h11 M9 12h11 M9 18h11 M4 6h1 M4 12h1 M4 18h1",
  image: "M3 4.500h18v15H3z M3 16l5-5 5 5 3-3 5 4 M16 9v.5",
  code: "M8 6l-6 6 6 6 M16 6l6 6-6 6 M14 4l-4 16",
  link: "M10 14a4 4 0 0 0 6 .500l4-4a4 4 0 0 0-5.7-5.700L12.5 6.5 M14 10a4 4 0 0 0-6-.500l-4 4a4 4 0 0 0 5.7 5.700l1.7-1.7",
  copy: "M8 8h12v12H8z M16 8V4H4v12h4",
  lock: "M5 11h14v10H5z M8 11V7.500a4 4 0 0 1 8 0V11",
  smile: "M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18z M8 14c2 3 6 3 8 0 M9 9.500v.5 M15 9.500v.5",
  team: "M12 11a3 3 0 1 0 0-6 3 3 0 0 0 0 6z M6 19c0-3.5 2.5-5.5 6-5.500s6 2 6 5.500z M4.5 12.500a2 2 0 1 0 0-4 M19.5 12.500a2 2 0 1 1 0-4",
};

const WREN = `<svg viewBox="0 0 28 24" class="wren"><path fill="#f4b04f" d="M3 13.500C3 9 6.6 5.8 11 5.800c2 0 3.7.6 5.2 1.700L25 2l-3 8.500C21.5 16.5 17.5 20 12 20c-5 0-9-2.5-9-6.500z"/>
<path fill="#d98a1f" d="M10 14c3 .8 7 0 9.5-3-.5 4.5-3.5 6.5-6.5 6.5-2 0-3-1.5-3-3.500z"/><path fill="#fbe3bd" d="M3.2 12L0 13.700l3.4 1.400z"/><circle cx="7.6" cy="11" r="1.25" fill="#12302e"/></svg>`;

const SECTIONS = [["tickets", "Tickets"], ["customers", "Customers"], ["knowledge", "Knowledge"], ["reports", "Reports"], ["settings", "Settings"]];

const SETTINGS = {
  Workspace: [["home", "General"], ["clock", "Business hours"], ["team", "Users and teams"]],
  Channels: [["mail", "Email"], ["chat", "Chat"], ["globe", "Web forms"]],
  Tickets: [["list", "Ticket fields"], ["bell", "SLA policies"], ["refresh", "Automation rules"], ["bolt", "Canned responses"]],
  Developers: [["key", "API keys"], ["webhook", "Webhooks"]],
};

class AppIcon extends HTMLElement {
  connectedCallback() {
    const [, fill, path] = /^(fill:)?(.*)$/.exec(ICONS[this.getAttribute("name")]);
    this.innerHTML = `<svg viewBox="0 0 24 24" class="${fill ? "solid" : "outline"}"><path d="${path}"/></svg>`;
  }
}

class AppShell extends HTMLElement {
  connectedCallback() {
    const page = [...this.childNodes];
    const section = this.getAttribute("section");
    const crumbs = this.getAttribute("crumbs").split(" > ");
    const rail = SECTIONS.map(([icon, label]) =>
      `<a class="${label === section ? "current" : ""}"><app-icon name="${icon}"></app-icon>${label}</a>`).join("");
    const trail = crumbs.map((crumb) => `<span>${crumb}</span>`).join(`<app-icon name="right"></app-icon>`);
    this.innerHTML = `
      <nav class="rail"><div class="brand">${WREN}</div>${rail}</nav>
      <header class="topbar"><div class="crumbs">${trail}</div>
        <div class="searchbox"><app-icon name="search"></app-icon>Search tickets, customers, articles</div>
        <button class="primary"><app-icon name="plus"></app-icon>New ticket</button>
        <span class="avatar" style="--hue: 168">PR</span></header>
      <main></main>`;
    this.querySelector("main").append(...page);
  }
}

class SettingsNav extends HTMLElement {
  connectedCallback() {
    const current = this.getAttribute("current");
    const item = ([icon, label]) =>
      `<a class="${label === current ? "current" : ""}"><app-icon name="${icon}"></app-icon>${label}</a>`;
    const groups = Object.entries(SETTINGS).map(([group, items]) => `<h2>${group}</h2>${items.map(item).join("")}`);
    this.innerHTML = `<div>${groups.join("")}</div>`;
  }
}

class WrendeskLogo extends HTMLElement {
  connectedCallback() { this.innerHTML = `${WREN}<b>Wrendesk</b>`; }
}

class IconSheet extends HTMLElement {
  connectedCallback() {
    this.innerHTML = Object.keys(ICONS).map((name) => `<app-icon id="${name}" name="${name}"></app-icon>`).join(" ");
  }
}

customElements.define("app-icon", AppIcon);
customElements.define("app-shell", AppShell);
customElements.define("settings-nav", SettingsNav);
customElements.define("wrendesk-logo", WrendeskLogo);
customElements.define("icon-sheet", IconSheet);
