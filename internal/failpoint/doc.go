// Package failpoint lets a build with the tag wrun_failpoints die, fail or hang at named places, so that tests can visit each of
// them. Without the tag nothing is compiled: On is a constant, and everything behind it goes.
//
//	WRUN_FAIL=name:action[:nth]   at the nth time that the place is come by, the first when nothing is said
//	WRUN_FAIL_MARK=path           a file that is made when the place is reached
//
// The actions are kill, which ends the process as kill -9 does; error, which makes the place fail; and hang, which never returns.
package failpoint

// Names are all places, in the order in which a run comes by them. A new place is a line here and a Hit where it is.
var Names = []string{
	AfterAcquire, BeforeIntent, AfterIntent, BeforeSend, MidHostCall, AfterHostCall, BlobWritten, BlobSynced, BlobRenamed, BlobBeforeDirsync,
	BeforeResult, AfterResult, AfterGuest, FinishedBefore, FinishedAfter, BeforeRelease, BeforeAck,
}

// The places.
const (
	AfterAcquire      = "claim-after-acquire" // a run was made, or claimed
	BeforeIntent      = "before-intent-tx"
	AfterIntent       = "after-intent-commit"
	BeforeSend        = "before-send"     // the next thing is the first byte of an effect
	MidHostCall       = "mid-host-call"   // a request was sent, and nothing of its reply was read
	AfterHostCall     = "after-host-call" // a host function has returned, and nothing was recorded
	BlobWritten       = "blob-after-temp-write"
	BlobSynced        = "blob-after-fsync"
	BlobRenamed       = "blob-after-rename"
	BlobBeforeDirsync = "blob-before-dirsync"
	BeforeResult      = "before-result-tx"
	AfterResult       = "after-result-commit"
	AfterGuest        = "after-guest-return" // a module has returned, and nothing was recorded
	FinishedBefore    = "finished-before"
	FinishedAfter     = "finished-after"
	BeforeRelease     = "claim-before-release"
	BeforeAck         = "before-ack" // a run has ended, and nobody was told
)
