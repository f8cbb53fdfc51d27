//go:build wrun_fresh

package sandbox

const defaultInstances = Fresh
