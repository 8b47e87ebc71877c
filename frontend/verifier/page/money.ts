/** What each bet came to. */
import type { View } from "../src/index.js";
import { element, section } from "./dom.js";
import { type Key, money, say } from "./text.js";

type Cell = readonly [text: string, kind: "text" | "number"];

/** Makes the table of settlements, or of returned stakes. */
export function settlements(view: View, players: Readonly<Record<string, string>>): HTMLElement {
  const rows = view.hands === undefined ? returned(view, players) : settled(view, players);
  if (rows.length === 0) return section("bets", say("settlementsTitle"), element("p", {}, say("noWagers")));
  return section("bets", say("settlementsTitle"), table(headers(view), rows));
}

function headers(view: View): Cell[] {
  const common: Cell[] = [[say("wager"), "text"]];
  if (view.hands === undefined) return [...common, [say("paid"), "number"]];
  const numbers = (["stake", "commission", "paid"] as const).map((key): Cell => [say(key), "number"]);
  return [...common, [say("spot"), "text"], [say("result"), "text"], ...numbers];
}

function settled(view: View, players: Readonly<Record<string, string>>): Cell[][] {
  return view.settlements.map((bet) => [
    [owned(bet.wagerId, players), "text"],
    [bet.betTitle, "text"],
    [say(`result_${bet.result}` as Key), "text"],
    ...[bet.stake, bet.commission, bet.paid].map((amount): Cell => [inCurrency(amount, view), "number"]),
  ]);
}

function returned(view: View, players: Readonly<Record<string, string>>): Cell[][] {
  return view.returned.map(({ wagerId, stake }) => [
    [owned(wagerId, players), "text"],
    [inCurrency(stake, view), "number"],
  ]);
}

function inCurrency(amount: bigint, { currency }: View): string {
  return money(amount, currency.digits, currency.code);
}

function owned(wager: string, players: Readonly<Record<string, string>>): string {
  const reference = players[wager];
  return reference === undefined ? wager : `${wager}: ${say("yours", { reference })}`;
}

function table(head: Cell[], rows: Cell[][]): HTMLElement {
  const heads = head.map(([text, kind]) => element("th", { scope: "col", class: kind }, text));
  const body = rows.map((row) => element("tr", {}, ...row.map(([text, kind]) => element("td", { class: kind }, text))));
  const whole = element(
    "table",
    {},
    element("thead", {}, element("tr", {}, ...heads)),
    element("tbody", {}, ...body),
  );
  const label = { class: "scroll", tabindex: "0", role: "region", "aria-label": say("settlementsTitle") };
  return element("div", label, whole);
}
