package transcript

import (
	"strings"
	"unicode"
)

// wrappers are the tags that agents put around text a person did not type
// (formats.md §2.7, with the readers' counts). The value says what becomes of
// the inside.
var wrappers = map[string]wrapperUse{
	"system-reminder": drop, "local-command-caveat": drop, "local-command-stdout": drop, "local-command-stderr": drop,
	"command-name": drop, "command-message": drop, "command-args": drop, "command-contents": drop,
	"bash-input": drop, "bash-stdout": drop, "bash-stderr": drop, "user-memory-input": drop,
	"task-notification": drop, "teammate-message": drop, "ide_opened_file": drop, "ide_selection": drop, "ide_diagnostics": drop,
	"environment_context": drop, "user_instructions": drop, "INSTRUCTIONS": drop, "permissions instructions": drop,
	"turn_aborted": drop, "subagent_notification": drop, "skill": drop, "recommended_plugins": drop, "goal_context": drop,
	"codex_internal_context": drop, "user_action": drop, "session_context": drop, "hook_context": drop,
	"environment_details": drop, "timestamp": drop, "ADDITIONAL_METADATA": drop, "USER_SETTINGS_CHANGE": drop,
	"skill-context": drop, "attachments": drop, "reminderInstructions": drop, "image": drop, "collaboration_mode": drop,
	"user_query": keepInside, "USER_REQUEST": keepInside,
}

type wrapperUse uint8

const (
	drop wrapperUse = iota
	keepInside
)

// openEnded are beginnings of injected text that has no closing tag: the whole
// block is noise.
var openEnded = []string{
	"# AGENTS.md instructions for", "# AGENTS.md instructions", "[Request interrupted by user", "Stop hook feedback:", "Caveat: The messages below",
	"This session is being continued from a previous conversation", "[SYSTEM: The user has invoked",
}

// Codex's IDE extension and desktop app put lists in front of a prompt, which
// then stands below a heading of its own. What the editor added is injected: the
// open files and what is selected in them, the files that were dropped in, the
// page the app's browser shows. Comments on a diff and the like are not: people
// wrote or chose them.
var (
	codexLists    = []string{"# Files mentioned by the user:", "# Files pasted by the user:", "# Context from my IDE setup:", "# In app browser:"}
	codexRequests = []string{"## My request for Codex:", "## My request:"}
)

// codexPrompt returns what follows the lists at the start of t, "" when nothing
// does; ok is false when t begins with none.
func codexPrompt(t string) (prompt string, ok bool) {
	for _, list := range codexLists {
		if !strings.HasPrefix(t, list) {
			continue
		}
		prompt, _ = codexRequest(t)
		return prompt, true
	}
	return "", false
}

// codexRequest returns what stands below the heading of the prompt in t.
func codexRequest(t string) (prompt string, ok bool) {
	for _, heading := range codexRequests {
		if _, prompt, ok = strings.Cut(t, "\n"+heading); ok {
			return prompt, true
		}
	}
	return "", false
}

// Typed returns the part of a user-role text block that a person typed: with
// injected envelopes removed from its start, "" when the block is nothing
// else. Only the start counts: a person who quotes an envelope inside a prompt
// is still found (matching.md rule 12).
func Typed(text string) string {
	var kept []string // what stood inside envelopes that hold the prompt
	for {
		t := strings.TrimLeftFunc(text, unicode.IsSpace)
		if prompt, ok := codexPrompt(t); ok {
			text = prompt
			continue
		}
		for _, p := range openEnded {
			if strings.HasPrefix(t, p) {
				t = ""
			}
		}
		inside, rest, use, ok := cutWrapper(t)
		if !ok {
			if t = strings.TrimRightFunc(t, unicode.IsSpace); t != "" {
				kept = append(kept, t)
			}
			return strings.Join(kept, "\n")
		}
		if use == keepInside {
			if inside = strings.TrimSpace(inside); inside != "" {
				kept = append(kept, inside)
			}
		}
		text = rest
	}
}

// Injected reports whether a user-role text block holds nothing a person typed.
func Injected(text string) bool { return Typed(text) == "" }

// cutWrapper splits a known wrapper off the start of t. It must close; an
// opening tag alone is a person writing about one.
func cutWrapper(t string) (inside, rest string, use wrapperUse, ok bool) {
	if len(t) < 3 || t[0] != '<' {
		return "", "", 0, false
	}
	gt := strings.IndexByte(t, '>')
	if gt < 0 || gt > 2048 {
		return "", "", 0, false
	}
	tag := t[1:gt]
	selfClosed := strings.HasSuffix(tag, "/")
	tag = strings.TrimSuffix(tag, "/")
	name := tag
	use, ok = wrappers[name]
	if !ok {
		if i := strings.IndexAny(tag, " \t\n"); i > 0 {
			name = tag[:i]
			use, ok = wrappers[name]
		}
	}
	if !ok {
		return "", "", 0, false
	}
	if selfClosed {
		return "", t[gt+1:], use, true
	}
	end := strings.Index(t[gt+1:], "</"+name+">")
	if end < 0 {
		return "", "", 0, false
	}
	inside = t[gt+1 : gt+1+end]
	return inside, t[gt+1+end+len(name)+3:], use, true
}

// Command returns a slash command that stands in an echo envelope, as a person
// would have typed it ("/plan tidy the parser"), and its arguments alone.
func Command(text string) (line, args string, ok bool) {
	name, found := between(text, "<command-name>", "</command-name>")
	if !found {
		return "", "", false
	}
	args, _ = between(text, "<command-args>", "</command-args>")
	name, args = strings.TrimSpace(name), strings.TrimSpace(args)
	return strings.TrimSpace("/" + strings.TrimPrefix(name, "/") + " " + args), args, true
}

func between(s, open, end string) (string, bool) {
	i := strings.Index(s, open)
	if i < 0 {
		return "", false
	}
	s = s[i+len(open):]
	j := strings.Index(s, end)
	if j < 0 {
		return "", false
	}
	return s[:j], true
}
