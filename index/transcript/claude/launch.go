package claude

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/sessionls/sessionls/index/transcript"
	"github.com/sessionls/sessionls/index/transcript/jsonv"
)

const (
	maxLaunchFiles = 4096    // transcripts whose launches are remembered
	maxLaunches    = 10_000  // sub-agents of one transcript
	maxSearch      = 1 << 30 // bytes of one transcript searched
)

// launchCache remembers which call of a transcript started which sub-agent.
type launchCache struct {
	mu    sync.Mutex
	files map[string]map[string]string // path and signature → agent id → uuid of the calling record
}

// find returns the uuid of the record in file that started the sub-agent.
func (c *launchCache) find(ctx context.Context, file, agent string) (call string, ok bool) {
	f, err := transcript.OpenFile(file)
	if err != nil {
		return "", false
	}
	defer f.Close()
	id := file + "\x00" + transcript.Signature(f.Info)
	c.mu.Lock()
	defer c.mu.Unlock()
	started, known := c.files[id]
	if !known {
		started = launches(ctx, f)
		if len(c.files) >= maxLaunchFiles || c.files == nil {
			c.files = map[string]map[string]string{}
		}
		if ctx.Err() == nil { // else it was cut short
			c.files[id] = started
		}
	}
	call, ok = started[agent]
	return call, ok
}

// among looks for the sub-agent that started p among those in the same folder.
func (c *launchCache) among(ctx context.Context, p place) (file, call string, ok bool) {
	dir := filepath.Dir(p.path)
	entries, err := os.ReadDir(dir)
	if err != nil {
		return "", "", false
	}
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), agentPrefix) || !strings.HasSuffix(e.Name(), ext) || e.Name() == p.stem+ext {
			continue
		}
		file = filepath.Join(dir, e.Name())
		if call, ok = c.find(ctx, file, p.agent); ok {
			return file, call, true
		}
	}
	return "", "", false
}

// launches collects the sub-agents that a transcript's calls started: named in
// the call's result, or in a progress record while it still runs.
func launches(ctx context.Context, f *transcript.File) map[string]string {
	out := map[string]string{}
	callers := map[string]string{} // call id → uuid of the record
	lines := transcript.NewLines(f, 0, min(f.Size, maxSearch), skipMembers...)
	marks := [][]byte{[]byte(`"agentId"`), []byte(`"Task"`), []byte(`"Agent"`)}
	var r record
	for {
		rec, err := lines.Next(ctx)
		if errors.Is(err, io.EOF) || err != nil || len(out) >= maxLaunches {
			return out
		}
		if !bytes.Contains(rec.Raw, marks[0]) && !bytes.Contains(rec.Raw, marks[1]) && !bytes.Contains(rec.Raw, marks[2]) {
			continue
		}
		parse(rec.Value, &r)
		switch r.typ {
		case "assistant":
			blocks(r.message, func(b *block) {
				if b.typ == "tool_use" && len(callers) < maxLaunches {
					callers[str(b.id)] = str(r.uuid)
				}
			})
		case "user":
			if r.result.Kind() != jsonv.Object {
				continue
			}
			agent := str(r.result.Get("agentId"))
			if agent == "" {
				continue
			}
			call := str(r.toolParent)
			blocks(r.message, func(b *block) {
				if c := callers[str(b.toolID)]; b.typ == "tool_result" && c != "" {
					call = c
				}
			})
			out[agent] = call
		case "progress":
			v := rec.Value
			agent := str(v.Get("data", "agentId"))
			if call := callers[str(v.Get("parentToolUseID"))]; agent != "" && call != "" && out[agent] == "" {
				out[agent] = call
			}
		}
	}
}

// parentAgentFile is the transcript of the sub-agent in whose folder p lies.
func parentAgentFile(p place) string {
	dir := filepath.Dir(p.path)
	for ; filepath.Base(dir) != agentPrefix+p.parentAgent; dir = filepath.Dir(dir) {
		if dir == filepath.Dir(dir) {
			return ""
		}
	}
	return dir + ext
}
