package faults_test

import "testing"

// Each test is a share of tier 1 that takes seconds. Larger ones are made by "go run ./internal/soak -tier 1 -share 0.1".

func TestNoCrashPointOfTheProgramBreaksAPromise(t *testing.T) { run(t, "crash points", 0.1) }

func TestFailingSystemCallsBreakNoPromise(t *testing.T) { run(t, "system calls", 0.02) }

func TestAPowerCutBreaksNoPromise(t *testing.T) { run(t, "power cut, runs, ordered", 0.02) }

func TestAFullDiskBreaksNoPromise(t *testing.T) { run(t, "full disk", 0.03) }

func TestRottenJournalsAreFoundByTheProgram(t *testing.T) { run(t, "bit flipped", 0.01) }

func TestKilledProcessesOfEveryClassBreakNoPromise(t *testing.T) { run(t, "every class", 0.01) }
