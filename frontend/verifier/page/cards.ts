/** A card as people see it, and as a screen reader says it. */
import { element } from "./dom.js";
import { type Key, say } from "./text.js";

const SUITS = ["♣", "♦", "♥", "♠"];
const RANKS = ["A", "2", "3", "4", "5", "6", "7", "8", "9", "10", "J", "Q", "K"];

/** Returns the name of a card code, 0 to 51. */
export function cardName(code: number): string {
  const rank = say(`rank_${code % 13}` as Key);
  return say("cardName", { rank, suit: say(`suit_${Math.floor(code / 13)}` as Key) });
}

/** Returns rank and suit in a few characters. */
export function cardFace(code: number): string {
  return `${RANKS[code % 13]}${SUITS[Math.floor(code / 13)]}\u{fe0e}`;
}

/** Whether the card is a diamond or a heart. */
export function isRed(code: number): boolean {
  return code >= 13 && code < 39;
}

/** Makes one list item that looks like a card; a third card lies across. */
export function card(code: number, place: number): HTMLElement {
  const classes = ["card", isRed(code) ? "red" : "", place === 2 ? "third" : ""].filter(Boolean).join(" ");
  const face = element("span", { "aria-hidden": "true" }, RANKS[code % 13] ?? "");
  const suit = element("span", { "aria-hidden": "true" }, `${SUITS[Math.floor(code / 13)]}\u{fe0e}`);
  return element("li", { class: classes, role: "listitem" }, element("span", { class: "spoken" }, cardName(code)), face, suit);
}
