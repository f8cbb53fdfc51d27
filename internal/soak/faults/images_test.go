package faults_test

import "testing"

func TestEveryCrashImageIsWhole(t *testing.T) { run(t, "crash images", 0.02) }
