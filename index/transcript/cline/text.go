package cline

import (
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/sessionls/sessionls/index/transcript"
)

// envelopes are the tags that Cline puts around what a person typed (true), and
// those around what it adds. Other agents' tags are known to transcript.Typed.
var envelopes = map[string]bool{
	"task": true, "feedback": true, "user_message": true, "answer": true, "user_input": true, "user_command": true, "new_task": true,
	"mode_notice": false, "environment_notice": false, "environment_details": false, "explicit_instructions": false, "hook_context": false,
	"auto_condense": false,
}

// additions are the tags of what a mention in a prompt (@file, @problems) pulls in
// behind it.
var additions = []string{
	"file_content", "folder_content", "workspace_diagnostics", "git_working_state", "git_commit", "url_content", "terminal_output",
	"environment_details",
}

// notes begin what is told to the model in the person's name; nothing of the block
// is typed but what stands in an envelope inside.
var notes = []string{
	"[TASK RESUMPTION]", "[ERROR] You did not use a tool", "[NOTE] Some previous conversation history", "New instructions for task continuation:", "New message to respond to with plan_mode_respond tool",
	"(The user did not provide a new message.", "The user has provided feedback on the results.", "The user provided the following feedback:",
	"You seem to be having trouble proceeding.", "The user has provided additional context",
}

// typed returns what a person typed of a text that the model was sent. Only
// envelopes at the start and additions at the end count: a person may write about
// one (matching.md rule 12).
func typed(text string) string { return typedWithin(text, 0) }

// nested are the envelopes that stand in others, at most so deep.
var nested = []string{"user_input", "user_command", "mode_notice", "environment_notice"}

const maxNested = 4

func typedWithin(text string, depth int) string {
	var kept []string
	keep := func(s string) {
		if s = strings.TrimSpace(s); s != "" {
			kept = append(kept, s)
		}
	}
	for {
		t := strings.TrimLeftFunc(text, unicode.IsSpace)
		name, attributes, inside, rest, ok := envelope(t)
		if depth > 0 && !(depth <= maxNested && slices.Contains(nested, name)) {
			ok = false // what was typed
		}
		switch {
		case ok && envelopes[name]:
			inside = strings.TrimSpace(typedWithin(inside, depth+1))
			if slash := attribute(attributes, "slash"); slash != "" {
				inside = strings.TrimSpace("/" + slash + " " + inside)
			}
			keep(inside)
			text = rest
			continue
		case ok:
			text = rest
			continue
		case depth == 0 && noted(t):
			for _, tag := range []string{"user_message", "feedback"} {
				if inside, ok := between(t, tag); ok {
					keep(inside)
				}
			}
			return strings.Join(kept, "\n")
		}
		if depth == 0 { // inside of an envelope stands what was typed, whatever it is
			t = transcript.Typed(t)
		}
		keep(withoutAdditions(t))
		return strings.Join(kept, "\n")
	}
}

func noted(t string) bool {
	for _, n := range notes {
		if strings.HasPrefix(t, n) {
			return true
		}
	}
	return false
}

// envelope splits a known envelope off the start of t. It must close.
func envelope(t string) (name, attributes, inside, rest string, ok bool) {
	if len(t) < 3 || t[0] != '<' {
		return
	}
	gt := strings.IndexByte(t[:min(len(t), 512)], '>')
	if gt < 0 {
		return
	}
	name, attributes, _ = strings.Cut(t[1:gt], " ")
	if _, known := envelopes[name]; !known {
		return
	}
	end := strings.Index(t[gt+1:], "</"+name+">")
	if end < 0 {
		return
	}
	return name, attributes, t[gt+1 : gt+1+end], t[gt+1+end+len(name)+3:], true
}

// attribute is the value of key="value".
func attribute(list, key string) string {
	_, v, ok := strings.Cut(list, key+`="`)
	if !ok {
		return ""
	}
	v, _, ok = strings.Cut(v, `"`)
	if !ok {
		return ""
	}
	return v
}

func between(t, tag string) (string, bool) {
	_, t, ok := strings.Cut(t, "<"+tag+">")
	if !ok {
		return "", false
	}
	t, _, ok = strings.Cut(t, "</"+tag+">")
	return t, ok
}

// withoutAdditions cuts what was pulled in off the end of a prompt.
func withoutAdditions(t string) string {
	t = "\n" + t
	for range 100 {
		t = strings.TrimRightFunc(t, unicode.IsSpace)
		cut := -1
		for _, tag := range additions {
			if !strings.HasSuffix(t, "</"+tag+">") {
				continue
			}
			for _, open := range []string{"\n<" + tag + " ", "\n<" + tag + ">"} {
				cut = max(cut, strings.LastIndex(t, open))
			}
		}
		if cut < 0 {
			break
		}
		t = t[:cut]
	}
	return strings.TrimPrefix(t, "\n")
}

// header matches the line before a result among the texts that the model was sent.
// What it is about may have any length and any characters in it.
var header = regexp.MustCompile(`^\[([a-z][a-z0-9_]{1,60})(?: for '((?s:.*?))'(?: in '[^'\n]*')?)?\] Result:`)

// maxHeader bounds the line, in bytes.
const maxHeader = 16 << 10

// resultHeader splits the line off the start of a result.
func resultHeader(t string) (tool, about, rest string, ok bool) {
	if !strings.HasPrefix(t, "[") {
		return "", "", t, false
	}
	m := header.FindStringSubmatchIndex(t[:min(len(t), maxHeader)])
	if m == nil {
		return "", "", t, false
	}
	tool = t[m[2]:m[3]]
	if m[4] >= 0 {
		about = t[m[4]:m[5]]
	}
	return tool, about, strings.TrimPrefix(t[m[1]:], "\n"), true
}

// failures begin the results of calls that did not succeed.
var failures = []string{
	"The tool execution failed with the following error", "The user denied this operation", "The user rejected this operation",
	"Error executing ", "Error reading ", "Error writing ", "Error listing ", "Error searching ", "Error parsing ", "Missing value for required parameter",
}

func failed(result string) bool {
	result = strings.TrimSpace(result)
	for _, f := range failures {
		if strings.HasPrefix(result, f) {
			return true
		}
	}
	return false
}

// feedbackNotes stand before what a person said to a call. A file may have such tags, too.
var feedbackNotes = []string{"The user provided the following feedback", "The user has provided feedback", "The user denied this operation and provided"}

// feedback splits off a result what a person said to it.
func feedback(text string) (result, said string) {
	before, rest, ok := strings.Cut(text, "<feedback>")
	inside, after, closed := strings.Cut(rest, "</feedback>")
	if !ok || !closed {
		return text, ""
	}
	for _, note := range feedbackNotes {
		if i := strings.LastIndex(before, note); i >= 0 && len(before)-i < 400 {
			return before[:i] + after, strings.TrimSpace(inside)
		}
	}
	return text, ""
}

// output is a result without what stands elsewhere: what a person said to it, and
// what mentions in that have pulled in.
func output(text string) string {
	text, _ = feedback(text)
	return strings.Trim(withoutAdditions(text), "\r\n")
}

// folder matches where the environment says that the task was started.
var folder = regexp.MustCompile(`(?m)^# Current (?:Working|Workspace) Directory \(([^\n]+?)\)(?: Files)?\s*$`)

// workingFolder finds it, "" if it is not told.
func workingFolder(environment string) string {
	m := folder.FindStringSubmatch(environment[:min(len(environment), 1<<20)])
	if m == nil {
		return ""
	}
	dir := transcript.CleanPath(m[1])
	if !absolute(dir) {
		return ""
	}
	return dir
}

// absolute accepts paths of any system; tasks travel between them.
func absolute(p string) bool {
	return strings.HasPrefix(p, "/") || len(p) > 2 && p[1] == ':' && (p[2] == '\\' || p[2] == '/')
}

func first(list ...string) string {
	for _, s := range list {
		if s != "" {
			return s
		}
	}
	return ""
}
