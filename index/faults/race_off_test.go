//go:build unix && !race

package faults_test

// raceFlags build the program with the race detector, as the tests are.
var raceFlags []string
