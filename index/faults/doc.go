// Package faults holds no code, only tests: they break what sessionls runs on
// and check that its index says what the transcripts say all the same.
//
// The program is built once and run as processes of their own, which are killed,
// stopped and starved while an agent-like writer changes transcripts of a
// generated home. Everything that is random comes from a seed, which a failing
// test prints; -faults.seed repeats it (the processes' timing is not repeated).
//
// Plain go test takes a minute, -short a part of it, and -faults.long (make
// faults) as long as it takes to be sure.
package faults
