package cursor

import (
	"strings"
	"unicode"

	"github.com/sessionls/sessionls/index/transcript"
)

// envelopes are the tags that Cursor puts before a prompt. Other agents' tags
// are known to transcript.Typed.
var envelopes = map[string]bool{
	"user_info": true, "rules": true, "user_rules": true, "always_applied_workspace_rules": true, "always_applied_workspace_rule": true,
	"agent_requestable_workspace_rules": true, "project_layout": true, "git_status": true, "open_and_recently_viewed_files": true,
	"recently_viewed_files": true, "open_files": true, "current_file": true, "edit_history": true, "additional_data": true,
	"attached_files": true, "manually_attached_skills": true, "agent_skills": true, "available_skills": true, "cursor_commands": true,
	"agent_transcripts": true, "terminal_files_information": true, "mcp_file_system": true, "mcp_file_system_servers": true,
	"mcp_instructions": true, "system_reminder": true, "system_notification": true, "image_files": true, "linter_errors": true,
	"external_links": true, "web_search_results": true, "uploaded_documents": true, "system-reminder": true, "timestamp": true,
}

// query is the tag around what a person typed.
const query = "user_query"

// typed returns what a person typed of a prompt as the tool sends it, and the
// time that it names, as text. Only envelopes at the start count: a person may
// write about one (matching.md rule 12).
func typed(text string) (prompt, at string) {
	var kept []string
	for {
		t := strings.TrimLeftFunc(text, unicode.IsSpace)
		name, inside, rest, ok := envelope(t)
		if !ok {
			if t = transcript.Typed(t); t != "" {
				kept = append(kept, t)
			}
			return strings.Join(kept, "\n"), at
		}
		switch name {
		case query:
			if inside = strings.TrimSpace(inside); inside != "" {
				kept = append(kept, inside)
			}
		case "timestamp":
			at = strings.TrimSpace(inside)
		}
		text = rest
	}
}

// envelope splits a known envelope off the start of t. It must close.
func envelope(t string) (name, inside, rest string, ok bool) {
	if len(t) < 3 || t[0] != '<' {
		return "", "", "", false
	}
	gt := strings.IndexByte(t[:min(len(t), 512)], '>')
	if gt < 0 {
		return "", "", "", false
	}
	name = t[1:gt]
	if i := strings.IndexAny(name, " \t\n"); i > 0 {
		name = name[:i]
	}
	if name != query && !envelopes[name] {
		return "", "", "", false
	}
	end := strings.Index(t[gt+1:], "</"+name+">")
	if end < 0 {
		return "", "", "", false
	}
	return name, t[gt+1 : gt+1+end], t[gt+1+end+len(name)+3:], true
}

// redacted stands where thinking was taken out.
const redacted = "[REDACTED]"

// said is what the model said, without the marks of what it thought.
func said(text string) string {
	if !strings.Contains(text, redacted) {
		return text
	}
	var lines []string
	for line := range strings.SplitSeq(text, "\n") {
		if strings.TrimSpace(line) != redacted {
			lines = append(lines, line)
		}
	}
	return strings.TrimSpace(strings.Join(lines, "\n"))
}
