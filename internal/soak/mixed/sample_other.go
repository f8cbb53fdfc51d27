//go:build !linux && !darwin

package mixed

// system knows nothing here.
func (m *sample) system() {}
