/** The files that were given, told apart by what is in them. */

export type Role = "evidence" | "trust" | "receipt" | "unknown" | "tooLarge";

export interface Given {
  readonly name: string;
  readonly role: Role;
  readonly bytes: Uint8Array;
}

const MAX_BYTES = 16 * 1024 * 1024;

/** Reads a file of the user's. */
export async function take(file: File): Promise<Given> {
  const { name } = file;
  if (file.size > MAX_BYTES) return { name, role: "tooLarge", bytes: new Uint8Array() };
  const bytes = new Uint8Array(await file.arrayBuffer());
  return { name, role: roleOf(bytes, name), bytes };
}

/** A damaged file still begins as it should, or has its name: then the check says what is wrong with it. */
function roleOf(bytes: Uint8Array, name: string): Role {
  const start = new TextDecoder("latin1").decode(bytes.subarray(0, 64));
  if (start.trimStart().startsWith("{") || name.endsWith(".json")) return "trust";
  if (start.includes("sealedshoe/v1/evidence") || name.endsWith(".evidence")) return "evidence";
  if (start.includes("sealedshoe/v1/receipt") || name.endsWith(".receipt")) return "receipt";
  return "unknown";
}

/** Puts newer files in the place of older ones with the same role. */
export function merged(old: readonly Given[], fresh: readonly Given[]): Given[] {
  const roles = new Set(fresh.map(({ role }) => role));
  return [...old.filter(({ role }) => !roles.has(role) && role !== "unknown" && role !== "tooLarge"), ...fresh];
}
