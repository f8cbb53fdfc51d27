//go:build !broken_nocatchup

package boltdb

// noCatchUp leaves out what was noted while a copy was made. It is a negative control: a test of copies that passes with it cannot see.
const noCatchUp = false
