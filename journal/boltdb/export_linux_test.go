package boltdb

// What is known of file systems and processes by their numbers and texts.
var (
	NetworkName = networkName
	FuseName    = fuseName
	MountType   = mountType
	StoppedIn   = stoppedIn
)
