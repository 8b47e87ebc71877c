/** Elements without markup strings: text from files never becomes HTML. */

type Child = Node | string | null;
type Attributes = Readonly<Record<string, string | boolean>>;

/** Makes an element; `true` sets an attribute without value, `false` leaves it out. */
export function element(tag: string, attributes: Attributes = {}, ...children: readonly Child[]): HTMLElement {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== false) made.setAttribute(name, value === true ? "" : value);
  }
  made.append(...children.filter((child) => child !== null));
  return made;
}

/** Returns the element of the page with this id. */
export function byId(id: string): HTMLElement {
  const found = document.getElementById(id);
  if (found === null) throw new Error(`no element ${id}`);
  return found;
}

/** Makes a section with its heading. */
export function section(id: string, heading: string, ...children: readonly Child[]): HTMLElement {
  const title = element("h2", { id: `${id}-title` }, heading);
  return element("section", { id, "aria-labelledby": `${id}-title` }, title, ...children);
}

/** Makes a list of terms and values, in code where they are hashes or keys. */
export function terms(rows: readonly (readonly [string, string])[]): HTMLElement {
  const cells = rows.flatMap(([term, value]) => [
    element("dt", {}, term),
    element("dd", {}, element("code", {}, value)),
  ]);
  return element("dl", {}, ...cells);
}
