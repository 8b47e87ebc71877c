/** The verdict, large. */
import type { Report } from "../src/index.js";
import { element } from "./dom.js";
import { type Key, say } from "./text.js";

type Verdict = "valid" | "invalid" | "unable";
const SIGNS: Readonly<Record<Verdict, string>> = {
  valid: "M20 50 L42 72 L80 28",
  invalid: "M28 28 L72 72 M72 28 L28 72",
  unable: "M50 24 L50 58 M50 72 L50 76",
};

/** Makes the banner; `unable` when the browser cannot check. */
export function banner(verdict: Verdict, report?: Report): HTMLElement {
  const title = element("h2", {}, say(`${verdict}Title`));
  const text = element("p", {}, say(`${verdict}Text`));
  const failed = report?.checks.find(({ state }) => state === "failed");
  const finding = report?.findings.find(({ severity }) => severity === "error");
  const step = failed === undefined ? null : say(`check_${failed.id}` as Key);
  const at = step === null ? null : element("p", {}, say("failedAt", { step }));
  const code = finding === undefined ? null : element("p", {}, element("code", {}, `${finding.code}`));
  const words = element("div", {}, title, text, at, code);
  return element("div", { class: `verdict ${verdict}`, "data-verdict": verdict }, sign(SIGNS[verdict]), words);
}

function sign(path: string): Node {
  const space = "http://www.w3.org/2000/svg";
  const picture = document.createElementNS(space, "svg");
  picture.setAttribute("viewBox", "0 0 100 100");
  picture.setAttribute("aria-hidden", "true");
  const line = document.createElementNS(space, "path");
  line.setAttribute("d", path);
  for (const [name, value] of [["fill", "none"], ["stroke", "currentColor"], ["stroke-width", "12"], ["stroke-linecap", "round"]] as const) {
    line.setAttribute(name, value);
  }
  picture.append(line);
  return picture;
}
