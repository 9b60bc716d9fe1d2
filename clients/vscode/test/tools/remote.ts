// The sessions of the test's other home.

/** The session of its own project. */
export const remote = { agent: 'claude', sessionId: '5e550002-0000-4000-8000-000000000002', title: 'Dredge the harbour basin' };

/** Where that project lies over there; nothing is there on this machine. */
export const remoteFolder = '/srv/harbour';

/** A session that started a sub-agent. This machine has sessions of the same ids. */
export const remoteParent = { title: 'tide DST fix', child: 'List stations with DST' };
