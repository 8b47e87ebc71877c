/** The round on a table: hands, totals, outcome, and why each card was drawn. */
import type { RoundView } from "../src/index.js";
import { card } from "./cards.js";
import { element, section } from "./dom.js";
import { type Key, say } from "./text.js";

/** Draws a dealt round. */
export function felt(round: RoundView): HTMLElement {
  const hands = element("div", { class: "hands" }, hand(round, "player"), hand(round, "banker"));
  const outcome = element("p", { class: "outcome" }, say(`outcome_${round.outcome}` as Key));
  return element("div", { class: "felt" }, hands, outcome);
}

function hand(round: RoundView, side: "player" | "banker"): HTMLElement {
  const { cards, total } = round[side];
  return element(
    "div",
    { class: round.outcome === side ? "hand won" : "hand" },
    element("h3", {}, say(side)),
    element("ul", { class: "cards" }, ...cards.map(card)),
    element("p", { class: "total" }, String(total)),
  );
}

/** Says which drawing rule applied to each hand. */
export function drawingRules(round: RoundView): HTMLElement {
  const lines = ruleKeys(round).map((key) => element("li", {}, say(key, { ...round.rule })));
  return section("rules", say("rulesTitle"), element("ol", { class: "rules" }, ...lines));
}

function ruleKeys(round: RoundView): Key[] {
  if (round.natural) return ["rule_two", "rule_natural"];
  const banker = round.banker.cards.length === 3 ? "draws" : "stands";
  if (round.player.cards.length === 3) return ["rule_two", "rule_player_draws", `rule_banker_${banker}`];
  return ["rule_two", "rule_player_stands", `rule_banker_${banker}_stood`];
}
