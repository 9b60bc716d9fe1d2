// Invented answers of a server.

import type { Header, Hit, SearchResults, Status } from '../../src/contract';

export function hit(sessionId: string, change: Partial<Hit> = {}): Hit {
  return {
    agent: 'claude', sessionId, title: `Session ${sessionId}`, cwd: '/home/dev/work/tidewatch', branch: 'main', model: null,
    createdAt: '2026-11-01T10:00:00.000Z', updatedAt: '2026-11-01T12:00:00.000Z', messageCount: 4, relation: 'root', automated: false, active: false,
    parentSessionId: null, matchCount: 1, source: { presence: 'present', filePath: `/home/dev/.claude/${sessionId}.jsonl` }, evidence: null, ...change,
  };
}

export function header(sessionId: string, change: Partial<Header> = {}): Header {
  return {
    agent: 'claude', sessionId, title: `Session ${sessionId}`, cwd: '/home/dev/work/tidewatch', branch: 'main', model: null,
    createdAt: '2026-11-01T10:00:00.000Z', updatedAt: '2026-11-01T12:00:00.000Z', messageCount: 4, relation: 'root', automated: false, active: false,
    parentSessionId: null, presence: 'present', format: '1', epoch: 1, warnings: [], ...change,
  };
}

export function results(hits: readonly Hit[], cursor: string | null = null): SearchResults {
  return {
    kind: 'results', hits, page: { cursor, hasMore: cursor !== null }, generation: 1,
    truncated: { candidates: false, snippets: 0, query: false, freshness: false }, durationMs: 1, total: { sessions: hits.length, exact: true },
  };
}

export function status(change: Partial<Status> = {}): Status {
  return {
    enabled: true, decided: true, phase: 'current', filesIndexed: 3, filesDue: 0, filesFailed: 0, degradedRoots: [], lastReconcileAt: 0, lastSweepCompletedAt: 0,
    generation: 7, identity: 'x', sessions: 3, events: 40, indexBytes: 123_456, agents: [], writer: 'this', ...change,
  };
}
