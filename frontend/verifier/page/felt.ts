/** The round on a table: hands, totals, outcome, and why each card was drawn. */
import type { DrawingStep, View } from "../src/index.js";
import { cardItem } from "./cards.js";
import { element, section } from "./dom.js";
import { type Key, say } from "./text.js";

/** Draws a round. */
export function felt(view: View): HTMLElement {
  const title = say("round", { table: view.table, round: view.roundNumber });
  const game = say("gameOf", { game: view.game.title, decks: view.game.decks });
  const { hands } = view;
  const shown = hands === undefined ? [element("p", { class: "outcome" }, say("voided"))] : dealt(view, hands);
  return section("round", title, element("div", { class: "felt" }, element("p", { class: "name" }, game), ...shown));
}

function dealt(view: View, hands: NonNullable<View["hands"]>): HTMLElement[] {
  const player = hand(view, "player", hands.playerTotal);
  const banker = hand(view, "banker", hands.bankerTotal);
  const outcome = say(`outcome_${hands.outcome}` as Key);
  return [element("div", { class: "hands" }, player, banker), element("p", { class: "outcome" }, outcome)];
}

function hand(view: View, side: "player" | "banker", total: number): HTMLElement {
  const cards = view.cards.filter((card) => card.hand === side).map(({ card }, place) => cardItem(card, place));
  return element(
    "div",
    { class: view.hands?.outcome === side ? "hand won" : "hand" },
    element("h3", {}, say(side)),
    element("ul", { class: "cards" }, ...cards),
    element("p", { class: "total" }, say("total", { total })),
  );
}

/** Says which drawing rule applied to each hand. */
export function drawingRules(steps: readonly DrawingStep[]): HTMLElement {
  const lines = steps.map((step) => element("li", {}, say(`rule_${step.rule}`, step.values)));
  return section("rules", say("rulesTitle"), element("ol", { class: "rules" }, ...lines));
}
