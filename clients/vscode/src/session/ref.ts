// A session as commands pass it around: from a row, a tree item, a document or the
// user's own key binding.

import type { Header, Hit, SessionFacts } from '../contract';
import { hosted, localHost } from '../hosts/host';

export interface SessionRef {
  readonly agent: string;
  readonly sessionId: string;
  /** 'local', or the host that keeps the session. */
  readonly host: string;
  readonly title?: string;
  /** Where the transcript lies on this machine. */
  readonly filePath?: string;
}

/** A place in a session, and which words to look for there. */
export interface Place {
  readonly seq?: number;
  readonly words?: readonly string[];
  /** The query these words answer, to ask for the session's other matches. */
  readonly query?: string;
}

function reference(s: SessionFacts, filePath: string | undefined): SessionRef {
  return {
    agent: s.agent,
    sessionId: s.sessionId,
    host: s.executionHostId ?? localHost,
    title: s.title,
    ...(filePath === undefined ? {} : { filePath }),
  };
}

export function refOfHit(hit: Hit): SessionRef {
  return reference(hit, hit.source.filePath);
}

export function refOfHeader(header: Header): SessionRef {
  return reference(header, header.sourcePath);
}

/** Reads a reference from a command's argument, which may come from anywhere. */
export function asRef(value: unknown): SessionRef | undefined {
  const v = value as Partial<SessionRef> | null | undefined;
  if (typeof v?.agent !== 'string' || typeof v.sessionId !== 'string') return undefined;
  return { ...v, agent: v.agent, sessionId: v.sessionId, host: typeof v.host === 'string' ? v.host : localHost };
}

/** The fields that name the session in a request. */
export function named(ref: SessionRef): { sessionId: string; agent: string; executionHost?: string } {
  return { sessionId: ref.sessionId, agent: ref.agent, ...hosted(ref.host) };
}
