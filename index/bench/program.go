package bench

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// Cost is what a process took.
type Cost struct {
	WallMs float64 `json:"wallMs"`
	CPUMs  float64 `json:"cpuMs"`
	// Peak is the most memory it held, in bytes; 0 where the system does not
	// tell it.
	Peak int64 `json:"peakBytes,omitempty"`
}

// program is this program, to be run with a home and an index of the bench's own.
type program struct {
	path, home, own string
}

// command is one run. Of the environment it gets what the system and Go's
// runtime look at, and sessionls' own variables: above all nothing that names a
// folder of the user's agents.
func (p *program) command(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, p.path, args...)
	for _, v := range os.Environ() {
		name, _, _ := strings.Cut(v, "=")
		switch {
		case name == "SESSIONLS_HOME" || name == "GOPATH":
		case strings.HasPrefix(name, "GO"), strings.HasPrefix(name, "SESSIONLS_"),
			name == "PATH", name == "TMPDIR", name == "TZ", name == "LANG", name == "LC_ALL", name == "SYSTEMROOT", name == "TEMP":
			cmd.Env = append(cmd.Env, v)
		}
	}
	cmd.Env = append(cmd.Env, "HOME="+p.home, "USERPROFILE="+p.home, "SESSIONLS_HOME="+p.own)
	cmd.WaitDelay = 10 * time.Second
	return cmd
}

// process is a run under way whose memory is looked at.
type process struct {
	cmd   *exec.Cmd
	began time.Time
	says  bytes.Buffer // on standard error
	quit  chan struct{}
	peak  chan int64
}

func start(cmd *exec.Cmd) (*process, error) {
	p := &process{cmd: cmd, began: time.Now(), quit: make(chan struct{}), peak: make(chan int64, 1)}
	cmd.Stderr = &p.says
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start %s: %w", cmd.Path, err)
	}
	go func() { p.peak <- watchMemory(cmd.Process.Pid, p.quit) }()
	return p, nil
}

// end waits for the process and returns what it took.
func (p *process) end(ctx context.Context) (Cost, error) {
	err := p.cmd.Wait()
	wall := time.Since(p.began)
	close(p.quit)
	peak := <-p.peak
	if ctx.Err() != nil {
		return Cost{}, ctx.Err()
	}
	if err != nil {
		return Cost{}, fmt.Errorf("run sessionls %s: %w: %s", strings.Join(p.cmd.Args[1:], " "), err, strings.TrimSpace(p.says.String()))
	}
	state := p.cmd.ProcessState
	if peak == 0 {
		peak = maxResident(state)
	}
	return Cost{milliseconds(wall), milliseconds(state.UserTime() + state.SystemTime()), peak}, nil
}

// watchMemory asks every now and then how much memory a process has held at
// most. It returns 0 where that cannot be asked.
//
// Linux counts what the parent held when it made the process in the process's own
// ru_maxrss (exec_mmap in fs/exec.c), which would make this process the least
// that can be measured; VmHWM of proc(5) begins anew with the program.
func watchMemory(pid int, quit <-chan struct{}) int64 {
	var most int64
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-quit:
			return most
		case <-tick.C:
			status, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/status")
			if err != nil {
				return most
			}
			if _, rest, ok := strings.Cut(string(status), "VmHWM:"); ok {
				if kb, err := strconv.ParseInt(strings.TrimSpace(strings.SplitN(rest, "kB", 2)[0]), 10, 64); err == nil {
					most = max(most, kb*1024)
				}
			}
		}
	}
}

// timeOf is the processor time that a running process has used until now; ok is
// false where the system does not tell it finely enough. Of Linux's schedstat
// (Documentation/scheduler/sched-stats.rst) the first number counts, in nanoseconds.
func timeOf(pid int) (used time.Duration, ok bool) {
	threads, err := filepath.Glob("/proc/" + strconv.Itoa(pid) + "/task/*/schedstat")
	if err != nil || len(threads) == 0 {
		return 0, false
	}
	for _, thread := range threads {
		stat, err := os.ReadFile(thread)
		if err != nil {
			continue // it ended
		}
		first, _, _ := strings.Cut(string(stat), " ")
		n, err := strconv.ParseInt(first, 10, 64)
		if err != nil {
			return 0, false
		}
		used += time.Duration(n)
	}
	return used, true
}

// pass has a process of its own make one pass.
func (p *program) pass(ctx context.Context) (*Pass, Cost, error) {
	cmd := p.command(ctx, "bench", "pass", "--home", p.home, "--own", p.own)
	var out bytes.Buffer
	cmd.Stdout = &out
	run, err := start(cmd)
	if err != nil {
		return nil, Cost{}, err
	}
	cost, err := run.end(ctx)
	if err != nil {
		return nil, Cost{}, err
	}
	pass := new(Pass)
	if err := json.Unmarshal(out.Bytes(), pass); err != nil {
		return nil, Cost{}, fmt.Errorf("read what a pass tells: %w", err)
	}
	return pass, cost, nil
}
