/** Every named step with what became of it, and what no file can show. */
import type { Check, Report } from "../src/index.js";
import { element, section, terms } from "./dom.js";
import { type Key, say, sayOr } from "./text.js";

const MARKS: Readonly<Record<Check["state"], string>> = {
  done: "✓",
  failed: "✗",
  not_possible: "–",
  not_reached: "·",
};

/** Makes the list of steps. */
export function checkList(report: Report): HTMLElement {
  return section("checks", say("checksTitle"), element("ul", { class: "checks" }, ...report.checks.map(item)));
}

function item(check: Check): HTMLElement {
  const mark = element("span", { class: "mark", "aria-hidden": "true" }, MARKS[check.state]);
  const title = element("strong", {}, say(`check_${check.id}` as Key));
  const state = element("span", { class: "note" }, ` ${say(`state_${check.state}` as Key)}`);
  const text = element("div", {}, title, state, why(check), failure(check), about(check));
  return element("li", { class: check.state }, mark, text);
}

function why(check: Check): HTMLElement | null {
  if (check.state !== "not_possible") return null;
  return element("p", { class: "note" }, sayOr(`reason_${check.id}`, "reason_other"));
}

function failure(check: Check): HTMLElement | null {
  if (check.state !== "failed") return null;
  return terms([
    [say("code"), check.code ?? ""],
    [say("expected"), check.expected ?? ""],
    [say("found"), check.found ?? ""],
  ]);
}

function about(check: Check): HTMLElement {
  const summary = element("summary", {}, say("more"), element("span", { class: "spoken" }, `: ${say(`check_${check.id}` as Key)}`));
  return element("details", {}, summary, element("p", {}, say(`about_${check.id}` as Key)));
}

/** Makes the list of what one file cannot show. */
export function limits(report: Report): HTMLElement {
  const items = report.limits.map((id) => element("li", {}, say(`limit_${id}`)));
  return section("limits", say("notCheckedTitle"), element("ul", {}, ...items));
}
