/** What experts compare: hashes, positions, leaf indexes; and the whole shoe. */
import type { View } from "../src/index.js";
import { shoeItem } from "./cards.js";
import { element, section, terms } from "./dom.js";
import { say } from "./text.js";

/** Makes the fold-out of hashes and numbers. */
export function details(view: View): HTMLElement {
  const { checkpoint } = view;
  const positions = view.cards.map(({ position }) => position).join(", ");
  const witnesses = checkpoint.witnesses.map(({ name }) => name).join(", ");
  const rows = terms([
    [say("shoeNumber"), String(view.shoeNumber)],
    [say("seedCommitment"), view.seedCommitment],
    [say("cardsRoot"), view.cardsRoot],
    [say("positions"), positions || say("none")],
    [say("leaves"), view.leafIndexes.records.join(", ")],
    [say("logOrigin"), checkpoint.origin],
    [say("logSize"), String(checkpoint.size)],
    [say("logRoot"), checkpoint.root],
    [say("witnesses"), witnesses || say("none")],
  ]);
  return section("details", say("detailsTitle"), element("details", {}, element("summary", {}, say("more")), rows));
}

/** Makes the shoe, card by card. */
export function wholeShoe(shoe: NonNullable<View["shoe"]>): HTMLElement {
  const here = new Set(shoe.dealtHere);
  const cards = shoe.order.length;
  const items = shoe.order.map((card, position) => shoeItem(card, here.has(position)));
  const summary = element("summary", {}, say("shoeShow", { cards }));
  const text = element("p", {}, say("shoeText", { cards }));
  const list = element("details", {}, summary, element("ol", { class: "shoe" }, ...items));
  return section("shoe", say("shoeTitle"), text, list);
}
