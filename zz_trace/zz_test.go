package zz

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"testing"
	"time"

	"github.com/sessionls/sessionls/index/transcript"
	"github.com/sessionls/sessionls/index/transcript/agents"
	"github.com/sessionls/sessionls/index/transcript/transcripttest"
)

func TestReal(t *testing.T) {
	home := os.Getenv("ZZ_HOME")
	env := transcript.Env{Home: home, GOOS: "linux", Getenv: func(string) string { return "" }}
	for _, rd := range agents.All() {
		if a := os.Getenv("ZZ_AGENT"); a != "" && a != rd.Agent().ID {
			continue
		}
		var n, sess, repl, src, ord, inh, dat, shadowed, unlinked, synth int
		rel := map[string]int{}
		types := map[string]int{}; inhAll := 0
		t0 := time.Now()
		for _, root := range rd.Roots(env) {
			_ = rd.Discover(context.Background(), env, root, func(s transcript.Source) error {
				n++
				tr, err := transcripttest.TraceAll(t, rd, env, s)
				if err != nil {
					return nil
				}
				for id, ss := range tr.Sessions {
					sess++
					rel[string(ss.Relation)]++
					l := tr.Links[id]
					u, sh := 0, 0
					for i, e := range ss.Events { if e.Inherited { inhAll++ }
						if e.Surface == transcript.Shadowed {
							sh++
							if l == nil {
								u++
							} else if _, ok := l.By[i]; !ok {
								u++
								types[string(e.Type)]++
							}
						}
					}
					shadowed += sh
					unlinked += u
					if l != nil {
						repl += len(l.By)
						src += len(l.Sources)
						ord += strings.Count(l.Render(), "stands before")
						inh += len(l.Originals)
						dat += len(l.Data)
						synth += len(l.Synthetic)
					}
					if os.Getenv("ZZ_V") != "" && sh > 0 {
						by := map[string]int{}
						if l != nil {
							for _, b := range l.By {
								by[fmt.Sprintf("%d:%s", b, ss.Events[b].RawType)]++
							}
						}
						var ks []string
						for k, v := range by {
							ks = append(ks, fmt.Sprintf("%s=%d", k, v))
						}
						sort.Strings(ks)
						fmt.Println(filepath.Base(s.Path), id, len(ss.Events), "shadowed", sh, "unlinked", u, ks)
					}
				}
				return nil
			}, func(p string, err error) {})
		}
		fmt.Println(rd.Agent().ID, n, "sources", sess, "sessions", rel, "shadowed", shadowed, "unlinked", unlinked, "replaced", repl, "sourced", src, "order", ord, "inherited", inh, "of", inhAll, "data", dat, "synthetic", synth, types, time.Since(t0))
	}
}
