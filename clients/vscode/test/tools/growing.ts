// The session of the test's own project, which a test can let grow.

export const growing = { agent: 'claude', sessionId: '5e550001-0000-4000-8000-000000000001', title: 'Round the harbour gauge' };
