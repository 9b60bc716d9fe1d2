# make run Q="some words"   search your own sessions
# make demo                 the same on invented sessions
# make test                 every check; .ci/run calls it

TAGS       := sqlite_fts5
GO         := go
BIN        := bin/sessionls
VERSION    := $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
COMMIT     := $(shell git rev-parse HEAD 2>/dev/null)
LDFLAGS    := -X main.version=$(VERSION) -X main.commit=$(COMMIT)
# testdata is not part of ./..., its helpers are checked all the same.
PACKAGES   := ./... ./testdata/samplehome/...
# Packages without C, which must compile for Windows.
NO_C        = $(shell GOOS=windows CGO_ENABLED=0 $(GO) list -tags $(TAGS) -deps=false -f '{{.ImportPath}}{{range .Deps}} {{.}}{{end}}' ./... 2>/dev/null | grep -v 'github.com/mattn/go-sqlite3' | cut -d' ' -f1)
STATICCHECK := honnef.co/go/tools/cmd/staticcheck@v0.8.2
FUZZTIME   ?= 30s
LOCOMO     ?=
MB         ?= 100
# The query goes through the environment, so that quotes in it need no care.
Q          ?=
export Q

.PHONY: help build run demo install test format vet staticcheck windows unit neovim vscode vsix faults fuzz fuzz-short bench bench-parts notices clean needs-go needs-cc needs

help:
	@echo 'make run Q="some words"   search your own sessions'
	@echo 'make demo Q="tide table"  search invented sessions of ten agents'
	@echo 'make build                build $(BIN)'
	@echo 'make install              install sessionls where go install puts it'
	@echo 'make test                 run every check (.ci/run does)'
	@echo 'make vsix                 pack the VS Code extension for this platform'
	@echo 'make bench, bench-parts   measure the program (MB=$(MB), LOCOMO=file); measure parts of it'
	@echo 'make fuzz                 look for crashes (FUZZTIME=$(FUZZTIME) each)'
	@echo 'make faults               kill, starve and crowd it for some minutes'
	@echo 'make notices, make clean  write THIRD_PARTY_NOTICES.md; remove what was built'

build: needs-go needs-cc
	@mkdir -p bin
	@[ -e $(BIN) ] || echo 'building; the first time SQLite is compiled, which takes a few minutes' >&2
	@$(GO) build -tags $(TAGS) -ldflags '$(LDFLAGS)' -o $(BIN) .

# Exit code 1 says that nothing was found, which is no failure of make.
run: build
	@[ -n "$$Q" ] || { echo 'what to search for? make run Q="some words"' >&2; exit 2; }
	@$(BIN) search -- "$$Q" || [ $$? -eq 1 ]

demo: build
	@set -e; dir=$$(mktemp -d); trap 'rm -rf "$$dir"' EXIT; \
	$(GO) run -tags $(TAGS) ./testdata/samplehome/make "$$dir/home" testdata/home; \
	env -i PATH="$$PATH" TERM="$${TERM-}" HOME="$$dir/home" SESSIONLS_HOME="$$dir/own" $(BIN) search -- "$${Q:-tide table}" || [ $$? -eq 1 ]

install: needs-go needs-cc
	$(GO) install -tags $(TAGS) -ldflags '$(LDFLAGS)' .

test: needs format vet windows staticcheck fuzz-short unit neovim vscode

format:
	@unformatted=$$(gofmt -l $$(git ls-files '*.go')); \
	[ -z "$$unformatted" ] || { echo "not formatted (gofmt -w):" $$unformatted >&2; exit 1; }

vet: needs-go needs-cc
	$(GO) vet -tags $(TAGS) $(PACKAGES)

windows: needs-go
	GOOS=windows CGO_ENABLED=0 $(GO) vet -tags $(TAGS) $(NO_C)

staticcheck: needs-go needs-cc
	$(GO) run $(STATICCHECK) -tags $(TAGS) $(PACKAGES)

unit: needs-go needs-cc
	$(GO) test -tags $(TAGS) -race -timeout 18m $(PACKAGES)

# The Neovim client in every Neovim it is for. Installs what it needs below clients/neovim/.tools, on Debian as root.
neovim: build
	clients/neovim/test/run

# The VS Code extension in the newest VS Code and in the oldest it is for. Installs what it needs below clients/vscode, on
# Debian as root.
vscode: needs-go needs-cc
	clients/vscode/test/run

# The extension for this platform, with the server inside: clients/vscode/sessionls.vsix
vsix: needs-go needs-cc
	@clients/vscode/pack

# The long form of what unit does in seconds.
faults: needs-go needs-cc
	$(GO) test -tags $(TAGS) -v -count 1 -timeout 60m ./index/faults -faults.long

# Every fuzz test runs its fixed corpus as part of unit. Here those without C look
# a little further; the number of tries is fixed, so the time is bounded.
fuzz-short: needs-go
	@set -e; for p in $$($(GO) list -tags $(TAGS) ./contract ./cli ./index/analysis ./index/postings ./server/rpc ./server/remote); do \
		for f in $$($(GO) test -tags $(TAGS) -list '^Fuzz' $$p | grep '^Fuzz'); do \
			echo "fuzz $$p $$f"; $(GO) test -tags $(TAGS) -run '^$$' -fuzz "^$$f\$$" -fuzztime 3000x $$p; \
		done; \
	done

fuzz: needs-go needs-cc
	@set -e; for p in $$($(GO) list -tags $(TAGS) ./...); do \
		for f in $$($(GO) test -tags $(TAGS) -list '^Fuzz' $$p | grep '^Fuzz'); do \
			echo "fuzz $$p $$f"; $(GO) test -tags $(TAGS) -run '^$$' -fuzz "^$$f\$$" -fuzztime $(FUZZTIME) $$p; \
		done; \
	done

# What it finds and what it costs, as a whole and by part. LOCOMO names a file
# locomo10.json, MB the size of the corpus.
bench: build
	$(BIN) bench relevance $(if $(LOCOMO),--locomo "$(LOCOMO)")
	$(BIN) bench --mb $(MB)

bench-parts: needs-go needs-cc
	$(GO) test -tags $(TAGS) -run '^$$' -bench . -benchmem ./...

notices: needs-go
	@.ci/notices > THIRD_PARTY_NOTICES.md.new && mv THIRD_PARTY_NOTICES.md.new THIRD_PARTY_NOTICES.md

clean:
	rm -rf bin THIRD_PARTY_NOTICES.md.new

needs-go:
	@command -v $(GO) >/dev/null || { echo 'Go is missing: install it from https://go.dev/dl/ (the version in go.mod or newer)' >&2; exit 1; }

needs-cc:
	@command -v "$$($(GO) env CC)" >/dev/null || { \
		echo 'a C compiler is missing; SQLite needs one. Debian, Ubuntu: apt-get install gcc libc6-dev. Fedora: dnf install gcc.' >&2; \
		echo 'macOS: xcode-select --install' >&2; exit 1; }
	@[ "$$($(GO) env CGO_ENABLED)" = 1 ] || { echo 'CGO_ENABLED is 0, but SQLite is C: unset it' >&2; exit 1; }

# On Debian as root what is missing is installed; elsewhere the checks above say what to do.
needs: needs-go
	@missing=''; command -v git >/dev/null || missing="$$missing git"; \
	command -v "$$($(GO) env CC)" >/dev/null || missing="$$missing gcc libc6-dev"; \
	[ -x /usr/sbin/sshd ] || command -v sshd >/dev/null || missing="$$missing openssh-server"; \
	command -v ssh >/dev/null || missing="$$missing openssh-client"; \
	if [ -n "$$missing" ] && [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
		apt-get update -q && DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends $$missing; fi
