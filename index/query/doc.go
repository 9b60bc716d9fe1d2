// Package query answers searchSessions from one snapshot of the index: it reads
// the query's small grammar, asks the full-text index for rows, puts them
// together to sessions, ranks these, and cuts snippets for one page.
//
// # The ladder
//
// A session is placed by the best that it offers:
//
//	phrase   all words adjacent and in order in one message
//	and      all words in one message, then all words in the session
//	or       some of the words
//
// and inside a step by a score. All steps are answered, a lower one never above
// a higher one; the route names the highest that any session reached. Stop
// words count for the phrase only. Quoted phrases must be there in any case.
// Sorted by time there is no telling apart by rank, so only the highest group
// (all words; else some) is listed.
//
// # Bounds
//
// For each word the newest rows are taken, up to a budget; rows outside the
// filters do not count against it. A word that meets its budget makes
// truncated.candidates true. Sorting by time, filters without text, quoted
// phrases and exclusions know no budget.
package query
