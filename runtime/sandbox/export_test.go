package sandbox

// MemoryInUse returns what all calls hold of the budget, in bytes, and how many wait.
func (s *Sandbox) MemoryInUse() (used uint64, waiting int) {
	s.budget.mu.Lock()
	defer s.budget.mu.Unlock()
	return s.budget.used, len(s.budget.begun) + len(s.budget.fresh)
}
