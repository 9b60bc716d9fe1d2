// Sessionls searches the sessions of coding agents, as a language server and from
// a terminal.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"runtime/debug"
	"sync"
	"syscall"
	_ "time/tzdata" // since: and until: mean days of the user's zone, also where the system has no zone database

	"github.com/rs/zerolog"
	"gopkg.in/natefinch/lumberjack.v2"

	"github.com/sessionls/sessionls/cli"
	"github.com/sessionls/sessionls/index"
	"github.com/sessionls/sessionls/index/exact"
	"github.com/sessionls/sessionls/index/store"
	"github.com/sessionls/sessionls/server"
	"github.com/sessionls/sessionls/server/remote"
	"github.com/sessionls/sessionls/server/rpc"
)

// Set by the linker (see the Makefile); the toolchain knows them for what was
// installed as a module.
var version, commit string

// memoryGoal is what the collector keeps the heap below as long as the data allow it:
// it works harder instead of letting a giant record's garbage double the memory.
const memoryGoal = 160 << 20

func main() {
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(memoryGoal)
	}
	paths := index.DefaultPaths()
	logFile := &logFile{paths: paths}
	// The full-text index is compiled in, or package store would not compile.
	told := cli.NewVersion(version, commit, store.EngineVersion(), true)
	code := cli.Main(context.Background(), cli.Options{
		Args: os.Args[1:],
		In:   os.Stdin, Out: os.Stdout, Err: os.Stderr,
		Version: told,
		Open: func(ctx context.Context) (cli.Service, error) {
			// What a person should know is in the answers; the log has the causes.
			log := zerolog.New(logFile).Level(zerolog.WarnLevel).With().Timestamp().Logger()
			service, err := open(ctx, paths, &log, told.Version)
			if err != nil {
				return nil, err
			}
			return terminal{service, paths}, nil
		},
		Serve: func(ctx context.Context) int { return serve(ctx, paths, logFile, told.Version) },
		Bench: benches{},
		Quote: exact.Quote,
	})
	os.Exit(code)
}

// localService is this machine's service, one level down: where both have a method,
// the hosts' is service's.
type localService struct{ *index.Service }

// service answers the commands of the contract for all hosts, and the rest for
// this machine.
type service struct {
	*remote.Hosts
	localService
}

// Close ends the connections to other hosts and this machine's service.
func (s service) Close() error {
	s.Hosts.Close()
	return s.localService.Close()
}

// open opens the service. Without a home folder agents' files would be looked for below
// whatever folder the program was started in.
func open(ctx context.Context, paths index.Paths, log *zerolog.Logger, version string) (service, error) {
	if home, err := os.UserHomeDir(); err != nil || !filepath.IsAbs(home) {
		return service{}, errors.New("the home folder is not known; set HOME to its absolute path")
	}
	local, err := index.Open(ctx, index.Options{Paths: paths, Log: log})
	if err != nil {
		return service{}, err
	}
	hosts := remote.New(remote.Options{
		Local: local, Version: version, Log: *log, ResumePlan: local.RemotePlan,
		Environments: func() (map[string]remote.Environment, error) {
			user, _, err := local.Config()
			known := make(map[string]remote.Environment, len(user.Hosts))
			for id, e := range user.Hosts {
				known[id] = remote.Environment{Command: e.Command}
			}
			return known, err
		},
	})
	return service{hosts, localService{local}}, nil
}

// serve is the language server on the standard streams.
func serve(ctx context.Context, paths index.Paths, file *logFile, version string) int {
	// Standard output is the protocol's; taken before anything may log, as the
	// log looks at it. Warnings also go where editors show them.
	in, out := rpc.Stdio()
	warnings := zerolog.FilteredLevelWriter{
		Writer: zerolog.LevelWriterAdapter{Writer: zerolog.ConsoleWriter{Out: os.Stderr, NoColor: true}},
		Level:  zerolog.WarnLevel,
	}
	log := zerolog.New(zerolog.MultiLevelWriter(file, &warnings)).Level(zerolog.InfoLevel).
		With().Timestamp().Int("pid", os.Getpid()).Logger()

	// Some editors end a server this way.
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	service, err := open(ctx, paths, &log, version)
	if err != nil {
		fmt.Fprintln(os.Stderr, "sessionls:", err)
		return cli.ExitFailed
	}
	service.Start(ctx)
	code := server.Run(ctx, server.Options{In: in, Out: out, Service: service, Version: version, Log: log})
	if err := service.Close(); err != nil {
		log.Warn().Err(err).Msg("closing the index")
	}
	return code
}

// logFile is the rotated log. Neither the file nor its folder is made before there is
// something to say.
type logFile struct {
	paths index.Paths
	once  sync.Once
	file  *lumberjack.Logger
	err   error
}

// Write implements io.Writer.
func (l *logFile) Write(p []byte) (int, error) {
	l.once.Do(func() {
		// For the user's eyes only: a log names folders.
		l.err = os.MkdirAll(l.paths.State, 0o700)
		l.file = &lumberjack.Logger{Filename: l.paths.Log(), MaxSize: 5, MaxBackups: 3} // megabytes, files
	})
	if l.err != nil {
		return 0, l.err
	}
	return l.file.Write(p)
}
