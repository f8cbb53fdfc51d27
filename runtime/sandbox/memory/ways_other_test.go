//go:build !linux

package memory

const calmResetsHere = 8

var waysHere []way
