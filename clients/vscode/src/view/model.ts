// How sessions are arranged in the view: nested below their parents, grouped. Pure.

import { type Header, sessionKey } from '../contract';
import { project } from '../words';
import type { GroupBy } from '../settings';

export interface SessionNode {
  readonly kind: 'session';
  readonly session: Header;
  readonly children: readonly SessionNode[];
}

export interface GroupNode {
  readonly kind: 'group';
  /** What the sessions have in common; '' for sessions without a project. */
  readonly name: string;
  readonly by: 'project' | 'agent';
  readonly children: readonly SessionNode[];
}

export type Node = SessionNode | GroupNode;

/**
 * Nests sub-agents and forks below their parents where these are in the list; others stand by
 * themselves. The order of the list is kept on every level. Nothing gets lost: sessions that are
 * each other's ancestors stand by themselves.
 */
export function nest(sessions: readonly Header[]): SessionNode[] {
  const byKey = new Map(sessions.map((s) => [sessionKey(s), s]));
  const children = new Map<string, Header[]>();
  const top: Header[] = [];
  for (const s of byKey.values()) {
    const parent = parentOf(s, byKey);
    if (parent === undefined || inCycle(s, byKey)) {
      top.push(s);
      continue;
    }
    const key = sessionKey(parent);
    const siblings = children.get(key);
    if (siblings === undefined) children.set(key, [s]);
    else siblings.push(s);
  }
  const node = (session: Header): SessionNode => ({
    kind: 'session',
    session,
    children: (children.get(sessionKey(session)) ?? []).map(node),
  });
  return top.map(node);
}

function parentOf(s: Header, byKey: ReadonlyMap<string, Header>): Header | undefined {
  return s.parentSessionId === null ? undefined : byKey.get(sessionKey({ agent: s.agent, sessionId: s.parentSessionId }));
}

function inCycle(s: Header, byKey: ReadonlyMap<string, Header>): boolean {
  const seen = new Set<Header>();
  for (let at: Header | undefined = s; at !== undefined; at = parentOf(at, byKey)) {
    if (seen.has(at)) return at === s;
    seen.add(at);
  }
  return false;
}

/** Groups come in the order of their first session, so the newest first. */
export function arrange(sessions: readonly Header[], by: GroupBy): readonly Node[] {
  const roots = nest(sessions);
  if (by === 'newest') return roots;
  const groups = new Map<string, SessionNode[]>();
  for (const root of roots) {
    const name = by === 'agent' ? root.session.agent : project(root.session.cwd);
    const group = groups.get(name);
    if (group === undefined) groups.set(name, [root]);
    else group.push(root);
  }
  return [...groups].map(([name, children]) => ({ kind: 'group', name, by, children }));
}
