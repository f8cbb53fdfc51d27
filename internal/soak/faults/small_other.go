//go:build !linux

package faults

func newSmallDisk(string, int) (*disk, error) { return nil, errSkip("filling a disk needs Linux") }

func fillUp(string, string, int) error { return nil }
