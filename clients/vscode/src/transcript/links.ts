// Paths in a transcript that name a file of the workspace. Pure.

import type { Span } from './matches';

export interface PathMention extends Span {
  /** As it stands in the text, without line and column. */
  readonly path: string;
  readonly line?: number;
  readonly column?: number;
}

/** More mentions than that are not looked for. */
const most = 2000;

// A path has a slash or an extension, and neither white space nor quotes; a line and a
// column may follow.
const pattern = /(?<![\w./\\:~@-])((?:[A-Za-z]:[\\/]|~?\/|\.{1,2}\/)?(?:[\w.@+-]+[\\/])*[\w.@+-]*\w\.\w{1,10}|(?:[A-Za-z]:[\\/]|\/)(?:[\w.@+-]+[\\/])+[\w.@+-]+)(?::(\d{1,7})(?::(\d{1,5}))?)?/g;

/** What looks like a path to a file, in the order of the text. */
export function pathMentions(text: string): PathMention[] {
  const found: PathMention[] = [];
  for (const match of text.matchAll(pattern)) {
    const path = match[1];
    if (path === undefined || /^\d+(\.\d+)+$/.test(path)) continue;
    found.push({
      path,
      start: match.index,
      end: match.index + match[0].length,
      ...(match[2] === undefined ? {} : { line: Number(match[2]) }),
      ...(match[3] === undefined ? {} : { column: Number(match[3]) }),
    });
    if (found.length === most) break;
  }
  return found;
}

/**
 * Where a mentioned path may lie: as it stands if it is absolute, else below the
 * session's folder and below those of the workspace. Only files inside the workspace are
 * offered, so no mention can lead elsewhere.
 */
export function candidates(mention: string, cwd: string | null, folders: readonly string[]): string[] {
  const path = mention.replace(/\\/g, '/');
  if (path.startsWith('~')) return [];
  const absolute = /^(\/|[A-Za-z]:\/)/.test(path);
  const bases = absolute ? [''] : [...(cwd === null ? [] : [cwd]), ...folders];
  const inside = (p: string): boolean => folders.some((f) => p.startsWith(`${f.replace(/\\/g, '/').replace(/\/$/, '')}/`));
  const all = bases.map((base) => normalise(base === '' ? path : `${base.replace(/\\/g, '/').replace(/\/$/, '')}/${path}`));
  return [...new Set(all.filter((p): p is string => p !== undefined && inside(p)))];
}

/** Resolves . and ..; undefined if that leads above the root. */
function normalise(path: string): string | undefined {
  const out: string[] = [];
  for (const part of path.split('/')) {
    if (part === '.' || (part === '' && out.length > 0)) continue;
    if (part === '..') {
      if (out.length <= 1) return undefined;
      out.pop();
    } else out.push(part);
  }
  return out.join('/');
}
