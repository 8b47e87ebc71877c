/** The page: files in, verdict out. Nothing is fetched and nothing is kept. */
import { PlatformError, readTrustSummary, type Report, type TrustSummary, verifyEvidence } from "../src/index.js";
import { checkList, limits } from "./checks.js";
import { details, wholeShoe } from "./details.js";
import { byId, element } from "./dom.js";
import { drawingRules, felt } from "./felt.js";
import { type Given, merged, type Role, take } from "./files.js";
import { settlements } from "./money.js";
import { story } from "./story.js";
import { CHOICES, choose, current, type Key, say } from "./text.js";
import { banner } from "./verdict.js";

let given: readonly Given[] = [];
let turn = 0; // of the newest check: an older one that ends later shows nothing

function bytesOf(role: Role): Uint8Array | undefined {
  return given.find((file) => file.role === role)?.bytes;
}

async function add(files: Iterable<File>): Promise<void> {
  given = merged(given, await Promise.all([...files].map(take)));
  await show();
}

function showWords(): void {
  document.documentElement.lang = current();
  document.title = `Sealed Shoe: ${say("title")}`;
  for (const place of document.querySelectorAll<HTMLElement>("[data-text]")) {
    place.textContent = say(place.dataset["text"] as Key);
  }
  const buttons = CHOICES.map(([tag, name]) => {
    const pressed = String(tag === current());
    const button = element("button", { type: "button", lang: tag, "aria-pressed": pressed, "aria-label": name }, tag.toUpperCase());
    button.addEventListener("click", () => {
      choose(tag);
      void show().then(() => byId("languages").querySelector<HTMLElement>(`[lang="${tag}"]`)?.focus());
    });
    return button;
  });
  byId("languages").replaceChildren(...buttons);
}

function showFiles(): void {
  const items = given.map(({ name, role }) => {
    const label = role === "tooLarge" ? "tooLarge" : (`role${role.charAt(0).toUpperCase()}${role.slice(1)}` as Key);
    return element("li", {}, element("span", { class: "role" }, say(label)), name);
  });
  byId("loaded").replaceChildren(...items);
}

async function showTrust(bytes: Uint8Array | undefined): Promise<void> {
  const place = byId("trust");
  const summary = bytes === undefined ? undefined : await readTrustSummary(bytes);
  place.hidden = summary === undefined;
  if (summary !== undefined) place.replaceChildren(...trustWords(summary));
}

function trustWords(trust: TrustSummary): HTMLElement[] {
  const groups = trust.rootKey.match(/.{1,4}/g) ?? [];
  const values = { origin: trust.origin, quorum: trust.quorum, witnesses: trust.witnesses };
  return [
    element("h2", { id: "trust-title" }, say("trustTitle")),
    element("p", { class: "fingerprint", id: "fingerprint" }, ...groups.flatMap((group) => [element("span", {}, group), " "])),
    element("p", {}, say("trustHint")),
    element("p", { class: "note" }, say("trustOf", values)),
  ];
}

async function show(): Promise<void> {
  const mine = ++turn;
  showWords();
  showFiles();
  const [evidence, trust, receipt] = [bytesOf("evidence"), bytesOf("trust"), bytesOf("receipt")];
  await showTrust(trust);
  const made = evidence !== undefined && trust !== undefined ? await result(evidence, trust, receipt) : [waiting()];
  if (mine === turn) byId("result").replaceChildren(...made);
}

function waiting(): HTMLElement | string {
  if (given.length === 0) return "";
  const missing = bytesOf("evidence") === undefined ? "needEvidence" : "needTrust";
  return element("p", { class: "note", id: "missing" }, say(missing));
}

async function result(evidence: Uint8Array, trust: Uint8Array, receipt?: Uint8Array): Promise<HTMLElement[]> {
  const title = element("h2", { id: "result-title" }, say("resultTitle"));
  try {
    return [title, ...sections(await verifyEvidence(evidence, trust, receipt))];
  } catch (error) {
    if (error instanceof PlatformError) return [title, banner("unable")];
    throw error;
  }
}

function sections(report: Report): HTMLElement[] {
  const { view } = report;
  const verdict = banner(report.verdict, report);
  if (view === undefined) return [verdict, checkList(report), limits(report)];
  return [
    verdict,
    felt(view),
    ...(view.hands === undefined ? [] : [drawingRules(view.drawing)]),
    settlements(view, report.players ?? {}),
    story(view),
    checkList(report),
    ...(view.shoe === undefined ? [] : [wholeShoe(view.shoe)]),
    limits(report),
    details(view),
  ];
}

function listen(): void {
  const chooser = byId("choose") as HTMLInputElement;
  chooser.addEventListener("change", () => void add(chooser.files ?? []));
  document.addEventListener("dragover", (event) => {
    event.preventDefault();
    byId("drop").classList.add("over");
  });
  document.addEventListener("dragleave", () => byId("drop").classList.remove("over"));
  document.addEventListener("drop", (event) => {
    event.preventDefault();
    byId("drop").classList.remove("over");
    void add(event.dataTransfer?.files ?? []);
  });
}

listen();
void show();
