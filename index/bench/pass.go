package bench

import (
	"context"
	"errors"
	"time"

	"github.com/sessionls/sessionls/contract"
)

// Pass is one pass over transcripts, as the process saw it that made it.
type Pass struct {
	Sessions int   `json:"sessions"`
	Events   int64 `json:"events"`
	Failed   int   `json:"failed"`
	// Read is the size of the transcripts that were to be read.
	Read int64 `json:"readBytes"`
	// Index is the size of the index and its sidecars at the end.
	Index  int64   `json:"indexBytes"`
	Phases []Phase `json:"phases"`
	// Talk is from the start until every session could be found by what was said in it, within
	// a fifth of a second.
	Talk Phase `json:"talk"`
}

// Phase is a part of a pass. CPU is 0 where the system does not tell it.
type Phase struct {
	Name   string  `json:"name"`
	WallMs float64 `json:"wallMs"`
	CPUMs  float64 `json:"cpuMs"`
}

// The phases: until the first transcript is read, until the last one is, and
// what comes then.
const (
	phaseLook   = "look"
	phaseRead   = "read"
	phaseFinish = "finish"
	phaseTalk   = "talk"
)

// counting is how often the sessions are counted while the index is built.
const counting = 200 * time.Millisecond

// RunPass makes one pass over the transcripts below home into the index below own,
// and gives the consent for that. It is what [Performance] has a process of its
// own do.
func RunPass(ctx context.Context, home, own string) (_ *Pass, err error) {
	out := &Pass{}
	began, cpu := time.Now(), ownTime()
	phase := func(name string) {
		now, used := time.Now(), ownTime()
		out.Phases = append(out.Phases, Phase{name, milliseconds(now.Sub(began)), milliseconds(used - cpu)})
		began, cpu = now, used
	}
	l, err := openLibrary(ctx, home, own)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, l.Close()) }()
	start, startCPU, counted := began, cpu, began
	count := func() error {
		status, err := l.SearchStatus(ctx, contract.SearchStatusRequest{ExecutionHost: contract.LocalHost})
		if err != nil {
			return err
		}
		if counted = time.Now(); status.Sessions > out.Sessions {
			out.Talk = Phase{phaseTalk, milliseconds(counted.Sub(start)), milliseconds(ownTime() - startCPU)}
		}
		out.Sessions, out.Events, out.Failed, out.Index = status.Sessions, status.Events, status.FilesFailed, status.IndexBytes
		return nil
	}
	var uncounted error
	err = l.Reconcile(ctx, false, func(p contract.Progress) {
		if p.FilesTotal == 0 {
			return
		}
		if time.Since(counted) > counting {
			uncounted = errors.Join(uncounted, count())
		}
		if len(out.Phases) == 0 {
			out.Read = p.BytesTotal
			phase(phaseLook)
		}
		if len(out.Phases) == 1 && p.FilesDone == p.FilesTotal {
			phase(phaseRead)
		}
	})
	if err = errors.Join(err, uncounted); err != nil {
		return nil, err
	}
	switch len(out.Phases) {
	case 0:
		phase(phaseLook)
	case 1:
		phase(phaseRead)
	default:
		phase(phaseFinish)
	}
	if err := count(); err != nil {
		return nil, err
	}
	return out, nil
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
