package index_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sessionls/sessionls/contract"
	"github.com/sessionls/sessionls/index"
)

// in is a prompt of Claude Code in a folder.
func in(session, uuid, cwd, text string) string {
	return strings.Replace(user(session, uuid, text), `"cwd":"/w/loom"`, `"cwd":`+quoted(cwd), 1)
}

// below are the ids of the sessions of a folder.
func (w *world) below(s *index.Service, query, dir string) string {
	w.t.Helper()
	req := contract.NewSearchSessionsRequest(query)
	req.Freshness = contract.FreshnessWait
	req.Filters.ScopePaths = []string{dir}
	var out []string
	for _, h := range w.search(s, req).Hits {
		out = append(out, h.SessionID)
	}
	slices.Sort(out)
	return strings.Join(out, " ")
}

// Folders, projects and platforms.
func TestCasesOfPlaces(t *testing.T) {
	t.Run("B56 B57 folders whose names collide", func(t *testing.T) {
		w := newWorld(t)
		dirs := []string{"/w/a_b", "/w/a-b", "/w/a.b", "/w/资料"}
		for i, dir := range dirs {
			folder := "-w-a-b"
			if i == 3 {
				folder = "-w---"
			}
			id := fmt.Sprint("session-", i)
			w.write(".claude/projects/"+folder+"/"+id+".jsonl", in(id, "u", dir, "colliding phalarope"))
		}
		s := w.enabled()
		for i, dir := range dirs {
			id := fmt.Sprint("session-", i)
			w.equal("below "+dir, w.below(s, "phalarope", dir), id)
			w.equal("cwd of "+id, *w.show(s, id).Session.Cwd, dir)
		}
	})
	t.Run("B59 B127 project that moved", func(t *testing.T) {
		w := newWorld(t)
		var log string
		for i := range 25 {
			dir := "/w/old"
			if i >= 20 {
				dir = "/w/new"
			}
			log += in(idA, fmt.Sprint("u", i), dir, fmt.Sprint("moving jaeger ", i))
		}
		// Its transcripts were moved with it, those of another session were not.
		w.write(".claude/projects/-w-new/"+idA+".jsonl", log)
		w.write(".claude/projects/-w-old/"+idB+".jsonl", strings.NewReplacer(idA, idB, `"uuid":"`, `"uuid":"b`, "jaeger", "skua").Replace(log))
		s := w.enabled()
		w.reconcile(s)
		for id, dir := range map[string]string{idA: "/w/new", idB: "/w/old"} {
			plan, err := s.ResumePlan(t.Context(), contract.ResumePlanRequest{SessionName: contract.SessionName{SessionID: id}, Shell: contract.ShellPosix})
			w.must(err)
			w.equal("resumed in", *plan.Cwd, dir)
		}
		for _, dir := range []string{"/w/old", "/w/new", "/w"} {
			w.equal("below "+dir, w.below(s, "jaeger", dir), idA)
		}
		w.equal("below /w/ol", w.below(s, "jaeger", "/w/ol"), "")
	})
	t.Run("B61 worktree that is gone", func(t *testing.T) {
		w := newWorld(t)
		w.write(claudeFile(idA), in(idA, "u", "/r/app/.claude/worktrees/fix-9", "gone petrel"))
		s := w.enabled()
		w.equal("below the project", w.below(s, "petrel", "/r/app"), idA)
	})
	t.Run("B64 links and loops", func(t *testing.T) {
		w := newWorld(t)
		w.write("elsewhere/"+idA+".jsonl", user(idA, "u", "linked fulmar"))
		root := w.path(".claude/projects")
		w.must(os.MkdirAll(root, 0o755))
		w.must(os.Symlink(w.path("elsewhere"), filepath.Join(root, "-w-loom")))
		w.must(os.Symlink(w.path("elsewhere"), filepath.Join(root, "-w-loom-again")))
		w.must(os.Symlink(root, filepath.Join(root, "-w-loop")))
		w.must(os.Symlink("nowhere", filepath.Join(root, "-w-dangling")))
		w.must(os.Symlink(root, w.path("elsewhere/loop")))
		s := w.enabled()
		w.finds(s, "fulmar", idA+"#title")
		w.equal("sessions", w.status(s).Sessions, 1)
	})
	t.Run("B69 only a working directory", func(t *testing.T) {
		w := newWorld(t)
		const id = "7e8f9a0b-2222-4333-8444-555566667777"
		w.write(".copilot/session-state/"+id+"/workspace.yaml", "id: "+id+"\ncwd: /w/loom\n")
		w.write(".copilot/session-state/"+id+"/events.jsonl", `{"type":"user.message","data":{"content":"folded noddy"},"id":"e1","timestamp":"2026-11-20T10:00:00.000Z"}`+"\n")
		s := w.enabled()
		w.finds(s, "repo:loom noddy", id+"#title")
		w.equal("below", w.below(s, "noddy", "/w/loom"), id)
	})
	t.Run("B71 CLAUDE_CONFIG_DIR and others", func(t *testing.T) {
		w := newWorld(t)
		w.vars["CLAUDE_CONFIG_DIR"], w.vars["CODEX_HOME"], w.vars["COPILOT_HOME"], w.vars["GEMINI_CLI_HOME"] = w.path("c"), w.path("x"), "", "relative"
		w.write("c/projects/-w-loom/"+idA+".jsonl", user(idA, "u", "configured auk"))
		w.write("x"+strings.TrimPrefix(codexFile(codexA), ".codex"), codexMeta(codexA)+codexUser("configured auk"))
		w.write(".gemini/tmp/loom/chats/session-2026-11-20T10-00-abcd1234.jsonl", `{"sessionId":"g-1","startTime":"2026-11-20T10:00:00.000Z","lastUpdated":"2026-11-20T10:00:00.000Z"}`+"\n"+
			`{"id":"m1","timestamp":"2026-11-20T10:00:01.000Z","type":"user","content":"configured auk"}`+"\n")
		s := w.enabled()
		var got []string
		w.fresh(s, "auk")
		for _, h := range w.ask(s, "auk").Results.Hits {
			got = append(got, h.Agent)
		}
		slices.Sort(got)
		w.equal("agents", got, "[claude codex gemini]")
	})
	t.Run("B72 no working directory", func(t *testing.T) {
		w := newWorld(t)
		w.write(claudeFile(idA), `{"type":"user","uuid":"u1","message":{"content":"homeless booby"}}`+"\n")
		s := w.enabled()
		h := w.first(s, "booby")
		if h.Cwd != nil || h.Title != "homeless booby" {
			t.Errorf("%+v", h)
		}
		req := contract.NewSearchSessionsRequest("booby")
		req.Filters.ScopePaths = []string{"/w"}
		w.equal("below a folder", len(w.search(s, req).Hits), 0)
	})
}

// Days.
func TestCasesOfTime(t *testing.T) {
	t.Run("B122 times with an offset are instants", func(t *testing.T) {
		w := newWorld(t)
		w.write(claudeFile(idA), strings.Replace(user(idA, "u", "late owl"), "2026-11-20T10:00:00.000Z", "2026-11-20T23:30:00+03:00", 1))
		s := w.enabled()
		h := w.first(s, "owl")
		w.equal("updated", quoted(h.UpdatedAt), `"2026-11-20T20:30:00.000Z"`)
		for _, c := range []struct{ since, until, want string }{
			{"2026-11-20T23:30:00+03:00", "", idA}, {"2026-11-20T23:30:01+03:00", "", ""}, {"2026-11-20T20:30:00Z", "2026-11-20T20:30:00Z", idA}, {"", "2026-11-20T23:29:59+03:00", ""},
		} {
			q := "owl"
			if c.since != "" {
				q += " since:" + c.since
			}
			if c.until != "" {
				q += " until:" + c.until
			}
			w.equal(q, w.fresh(s, q), c.want)
		}
	})
}

// Going on with a session.
func TestCasesOfResuming(t *testing.T) {
	t.Run("B126 the recorded folder goes with the command", func(t *testing.T) {
		w := newWorld(t)
		w.write(claudeFile(idA), in(idA, "u1", "/w/loom/deep", "nested crake")+in(idA, "u2", "/w/loom", "higher up"))
		s := w.enabled()
		h := w.first(s, "crake")
		w.equal("command, cwd", h.ResumeCommand+" in "+*h.Cwd, "claude --resume "+idA+" in /w/loom/deep")
	})
	t.Run("B129 gone is not offered", func(t *testing.T) {
		w := newWorld(t)
		path := w.write(claudeFile(idA), user(idA, "u", "gone rail"))
		w.write(claudeFile(idB), user(idB, "u", "other rail"))
		s := w.enabled()
		w.finds(s, `"gone rail"`, idA+"#title")
		w.must(os.Remove(path))
		h := w.first(s, `"gone rail"`)
		w.equal("command, presence", h.ResumeCommand+string(h.Source.Presence), "missing")
	})
	t.Run("B131 shortened ids", func(t *testing.T) {
		w := newWorld(t)
		w.write(claudeFile(idA), user(idA, "u", "short coot"))
		w.write(claudeFile("aaaaaaaa-0000-4000-9000-000000000001"), user("aaaaaaaa-0000-4000-9000-000000000001", "u", "other coot"))
		w.write(claudeFile(idB), user(idB, "u", "third coot"))
		s := w.enabled()
		w.reconcile(s)
		w.equal("twelve characters", w.show(s, idB[:12]).Session.SessionID, idB)
		w.equal("as many as needed", w.show(s, idA[:20]).Session.SessionID, idA)
		_, err := s.Resolve(t.Context(), contract.SessionName{SessionID: idA[:12]})
		failed(t, err, contract.CodeSourceConflict)
		_, err = s.Resolve(t.Context(), contract.SessionName{SessionID: "cccccccc-0000"})
		failed(t, err, contract.CodeSessionNotFound)
	})
	t.Run("B132 started by a program", func(t *testing.T) {
		w := newWorld(t)
		w.write(claudeFile(idA), strings.Replace(user(idA, "u", "scripted rook"), `{`, `{"entrypoint":"sdk-ts",`, 1))
		s := w.enabled()
		h := w.first(s, "rook")
		w.equal("automated, command", fmt.Sprint(h.Automated, " ", h.ResumeCommand), "true claude --resume "+idA)
		w.finds(s, "is:automated rook", idA+"#title")
	})
}
