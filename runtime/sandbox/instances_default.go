//go:build !wrun_fresh && !wrun_portable

package sandbox

// defaultInstances is what the zero value of Config.Instances means. The build tags wrun_fresh and wrun_portable change it, so
// that every test can be run in each way, in all processes that it starts.
const defaultInstances = Pooled
