/** What happened when: sealed, opened, dealt. */
import type { View } from "../src/index.js";
import { element, section } from "./dom.js";
import { say, seconds, time } from "./text.js";

type Event = readonly [text: string, microseconds: bigint];

/** Makes the time line of a round. */
export function story(view: View): HTMLElement {
  const witnessed = (view.cosignedHead?.witnesses ?? []).map(
    ({ name, time: at }): Event => [say("timeWitness", { name }), at * 1_000_000n],
  );
  const events: Event[] = [
    ...witnessed,
    [say("timeOpened"), view.openedUs],
    [say(view.hands === undefined ? "timeVoided" : "timeResult"), view.resultUs],
  ];
  const items = events.map(([text, at]) => element("li", {}, text, element("br"), element("time", {}, when(at, view))));
  const received = view.receiptHead === undefined ? null : element("p", {}, say("timeReceipt"));
  const list = element("ol", { class: "timeline" }, ...items);
  return section("story", say("timeTitle"), list, received, element("p", { class: "note" }, say("timeNote")));
}

function when(at: bigint, view: View): string {
  const gap = at - view.openedUs;
  return gap > 0n ? `${time(at)} · ${say("timeGap", { seconds: seconds(gap) })}` : time(at);
}
