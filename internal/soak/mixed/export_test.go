package mixed

// WithEach returns the configuration with something to do after every call, concurrently, given its cycle.
func (c Config) WithEach(each func(cycle int)) Config {
	c.each = each
	return c
}
