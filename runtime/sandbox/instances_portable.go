//go:build wrun_portable && !wrun_fresh

package sandbox

const defaultInstances = PooledPortably
