//go:build broken_nocatchup

package boltdb

const noCatchUp = true
