/** A card, of two characters as in `TD`, as people see it and as a screen reader says it. */
import { element } from "./dom.js";
import { type Key, say } from "./text.js";

const RANKS = "A23456789TJQK";
const SUITS = "CDHS";
const SIGNS = ["♣", "♦", "♥", "♠"];
const AS_TEXT = "\u{fe0e}"; // else some systems draw the suit as a coloured picture

function rank(card: string): string {
  return card.startsWith("T") ? "10" : card.slice(0, 1);
}

function suit(card: string): string {
  return `${SIGNS[SUITS.indexOf(card.slice(1))]}${AS_TEXT}`;
}

/** Returns the name of a card in words. */
export function cardName(card: string): string {
  const named = say(`rank_${RANKS.indexOf(card.slice(0, 1))}` as Key);
  return say("cardName", { rank: named, suit: say(`suit_${SUITS.indexOf(card.slice(1))}` as Key) });
}

function colour(card: string): string {
  return "DH".includes(card.slice(1)) ? "red" : "black";
}

/** Makes a list item that looks like a card; a hand's third card lies across. */
export function cardItem(card: string, place: number): HTMLElement {
  const look = element("span", { "aria-hidden": "true" }, rank(card), element("br"), suit(card));
  const classes = `card ${colour(card)}${place === 2 ? " third" : ""}`;
  return element("li", { class: classes }, look, element("span", { class: "spoken" }, cardName(card)));
}

/** Makes a small list item of a whole shoe. */
export function shoeItem(card: string, here: boolean): HTMLElement {
  const look = element("span", { "aria-hidden": "true" }, `${rank(card)}${suit(card)}`);
  const spoken = here ? `${cardName(card)}, ${say("dealtHere")}` : cardName(card);
  const classes = `${colour(card)}${here ? " here" : ""}`;
  return element("li", { class: classes }, look, element("span", { class: "spoken" }, spoken));
}
