/** What the page says, in the reader's language. */
import de from "./lang/de.json";
import en from "./lang/en.json";
import fr from "./lang/fr.json";

export type Key = keyof typeof en;
const LANGUAGES: Readonly<Record<string, Readonly<Record<Key, string>>>> = { en, de, fr };
let language = navigator.languages.map((tag) => tag.slice(0, 2)).find((tag) => tag in LANGUAGES) ?? "en";

/** The languages that can be chosen, as [tag, name]. */
export const CHOICES: readonly (readonly [string, string])[] = Object.entries(LANGUAGES).map(([tag, texts]) => [
  tag,
  texts.name,
]);

/** The tag of the language in use. */
export function current(): string {
  return language;
}

/** Changes the language. */
export function choose(tag: string): void {
  language = tag;
}

/** Returns a text with its `{names}` filled in. */
export function say(key: Key, values: Readonly<Record<string, string | number | bigint>> = {}): string {
  const text = (LANGUAGES[language] ?? en)[key];
  return text.replace(/\{(\w+)\}/g, (whole, name: string) => String(values[name] ?? whole));
}

/** Returns the text of a key that is put together, or of another one when there is none. */
export function sayOr(key: string, other: Key): string {
  return say(key in en ? (key as Key) : other);
}

/** Writes an amount in minor units with the currency's digits. */
export function money(minorUnits: bigint, digits: number, currency: string): string {
  const style = { style: "currency", currency, minimumFractionDigits: digits, maximumFractionDigits: digits } as const;
  const text = minorUnits.toString().padStart(digits + 1, "0");
  const split = text.length - digits;
  const decimal = digits === 0 ? text : `${text.slice(0, split)}.${text.slice(split)}`;
  return new Intl.NumberFormat(language, style).format(decimal as Intl.StringNumericLiteral);
}

/** Writes a time of microseconds since 1970 to the millisecond, UTC. */
export function time(microseconds: bigint): string {
  const at = new Date(Number(microseconds / 1000n));
  return new Intl.DateTimeFormat(language, {
    dateStyle: "medium",
    timeStyle: "medium",
    timeZone: "UTC",
  }).format(at) + " UTC";
}

/** Writes a span in seconds with up to three decimals. */
export function seconds(microseconds: bigint): string {
  return new Intl.NumberFormat(language, { maximumFractionDigits: 3 }).format(Number(microseconds) / 1e6);
}
