package main

import "strings"

// exits are the exit codes, in the order of the documentation. They are append-only.
var exits = []struct{ code, meaning string }{
	{"0", "done"},
	{"1", "the run or the tool failed"},
	{"2", "wrong usage or input"},
	{"3", "suspended: waits for an approval or a time"},
	{"4", "uncertain effect: a person must say"},
	{"5", "denied"},
	{"6", "diverged from its log"},
	{"7", "a limit was reached (time, fuel, memory, budget, quota)"},
	{"8", "gave up waiting"},
	{"9", "not trusted: grant, digest, signature"},
	{"10", "no such journal or run"},
	{"11", "journal busy or run driven by another process"},
	{"12", "journal damaged"},
	{"13", "cancelled"},
	{"129/130/143", "ended by a signal, state safe"},
}

// The exit codes that problems have.
const (
	exitFailed    = 1
	exitUsage     = 2
	exitWaiting   = 3
	exitUncertain = 4
	exitDenied    = 5
	exitDiverged  = 6
	exitLimit     = 7
	exitGaveUp    = 8
	exitUntrusted = 9
	exitMissing   = 10
	exitBusy      = 11
	exitDamaged   = 12
	exitCancelled = 13
)

// code is a kind of problem. Codes are append-only.
type code struct {
	id   string
	exit int
	// title says in a few words what it is, text what it means and what to do.
	title, text string
}

var (
	codeUsage = code{"W0101", exitUsage, "wrong usage", `
The command line cannot be understood. "wrun help VERB" shows what a verb takes.`}
	codeInput = code{"W0102", exitUsage, "wrong input", `
The input is not JSON, or does not match the schema that the tool or the plan gives
for it. Nothing was entered and nothing was written.`}
	codeOtherRun = code{"W0103", exitUsage, "the run id is taken", `
A run of this id exists and is made of something else: another plan, another input, or
modules with other bytes; or a bundle was to be imported whose run is there already. An id
names one run for ever. "wrun resume ID" goes on with what it began with; another id begins a
new run.`}
	codePlan = code{"W0104", exitUsage, "the plan has mistakes", `
Everything that can be judged without running is judged before anything runs. Each
mistake is given with its line, or with its step where the step's tool has to be known.
docs/plans.md describes the format.`}
	codeNoTool = code{"W0105", exitUsage, "no such tool", `
The module does not have a tool of this name. "wrun tool inspect FILE" lists them.`}
	codeFile = code{"W0106", exitUsage, "a file cannot be used", `
A file that was named cannot be read or written. The message says why.`}
	codeBuild = code{"W0107", exitUsage, "the tool cannot be built", `
The directory does not build as a tool: there are no sources of one, or the compiler refuses
them, and its messages stand above. "wrun tool new NAME" makes a directory that builds.`}

	codeConfig = code{"W0108", exitUsage, "the configuration has mistakes", `
A file of the operator's configuration cannot be read: policy.yaml, grants.yaml or the record of
a tool that was added. While the policy has mistakes nothing is driven, so that nothing begins
which it would have denied. docs/policy.md and docs/grants.md describe the files.`}
	codeNotAgreed = code{"W0109", exitUsage, "not agreed to", `
The command asked whether to go on, and was not told to; or there is no terminal, so that nobody
can be asked. Nothing was done. With --yes nobody is asked.`}

	codeSecret = code{"W0111", exitUsage, "it holds the value of a secret", `
What was given would be written into the journal, and holds the value of a secret in some
form. Nothing was written. Give it with the mark that the message shows in place of the
value. docs/secrets.md says what is looked for.`}
	codeManifest = code{"W0110", exitUsage, "the manifest has mistakes", `
A manifest that is written as TOML is read strictly: a field that there is not, a value of
another type, or a manifest that contradicts itself is refused, with the line. docs/abi.md
lists the fields, under "A manifest as a file".`}

	codeScript = code{"W0112", exitUsage, "the script has mistakes", `
A scripted model is read strictly, and each mistake is given with its line. docs/script.md
describes the format.`}
	codeAgent = code{"W0113", exitUsage, "the agent has mistakes", `
An agent's file is read strictly, and judged with its tools before anything runs. Each
mistake is given with its line. docs/agents.md describes the format.`}
	codeModelChoice = code{"W0114", exitUsage, "which model, and where, is not clear", `
WRUN_MODEL says which model is asked: scripted, openai/NAME or anthropic/NAME.
WRUN_MODEL_BASE_URL says where it is when it is not at its provider's, and WRUN_MODEL_KEY
where its key comes from: env:VARIABLE, file:PATH or cmd:PROGRAM. A run keeps the model that
it began with, so a resume with other variables is refused; take them out of the environment
or begin another run. A key that is not there stops the run before the model is asked, and
"wrun resume RUN" goes on once it is there.`}
	codeNoModel = code{"W0115", exitUsage, "the run asks no model", `
Only runs of "wrun agent" have costs. "wrun show RUN" says what a run is.`}
	codeModelKey = code{"W0116", exitFailed, "the model's provider does not take the key", `
The key of a model comes from where WRUN_MODEL_KEY said when the run began: env:VARIABLE,
file:PATH or cmd:PROGRAM; without it from OPENAI_API_KEY or ANTHROPIC_API_KEY at the provider's
own address. Where it could not be read nothing was sent, and "wrun resume RUN" goes on once it
can. A key that the provider refused has ended the run. Put the right one in its place; then
"wrun fork RUN --at STEP", as shown, makes a run of what was answered before, which is not paid
for again.`}
	codeCrashtest = code{"W0126", exitFailed, "a run does not survive its crashes", `
"wrun crashtest" killed the run at every place, and at some of them what came of it was not what
comes of it without a death: an effect was done more often, or less often, or the run ended
otherwise. Each is shown with the place, with what the world saw and what the journal has, and
with the command that makes this one trial again; its journal is kept.

An effect that is done twice is most often one whose tool says that it may be: a tool that is
declared idempotent or keyed is called again, and here the provider did it again. Declare what
is true of the provider, or let the world say that it knows keys ("dedupe"). What is lost, or
ends otherwise, is a fault of wrun or of a tool that keeps something to itself.

A run that fails also when nobody disturbs it has this code too, whatever came of the trials: what
comes behind the failure was not tested. Let its world answer so that it succeeds.`}

	codeAmbiguous = code{"W0127", exitUsage, "which run is meant is not clear", `
A run can be named by the beginning of its id, as long as no other id begins so. Several do here;
they are listed, ten at most. Nothing was done. Give more of the id. An id that is given whole always
means its own run, also where others begin with it, and one with a ~ in it, such as that of a
rollback, is meant only when the ~ is given.`}
	codeNoChoice = code{"W0128", exitUsage, "no run was chosen", `
On a terminal the run can be left out: the runs that the command could be about are listed, and one
is chosen by its number or by the beginning of its id. None was, or there is none. Nothing was done.`}

	codeToolchain = code{"W0117", exitUsage, "a part of the compiler is missing", `
Tools in Go are built with the go command. Tools in C are built with clang, its linker wasm-ld,
wasi-libc, and the part of compiler-rt that is for wasm32; Debian and Ubuntu have them in the
packages clang, lld, wasi-libc and libclang-rt-dev-wasm32, and wasi-sdk has all of them for
other systems: WASI_SDK_PATH says where it was unpacked.`}
	codeOccupiedDir = code{"W0118", exitUsage, "the directory is not empty", `
A new tool is made in a directory of its own, which is made too or is there and empty. Nothing
was written.`}
	codeNotPackage = code{"W0119", exitUsage, "not a package of a tool", `
A package is a tar that "wrun tool package" has written: manifest.json, texts and module.wasm, in
this order and laid out in one way only. The file is something else, was cut off or changed on its
way, or was made by other means or by a newer wrun. docs/tools.md describes the format.`}
	codePackageDiffers = code{"W0120", exitUntrusted, "the package does not say what its module says", `
The manifest.json of a package is for people to read, and has to say what the manifest in the
module says, and which bytes it is about. In this package they differ, so somebody would have
decided about something else. Nothing of the module ran. Get the package from its author, or
take module.wasm out of it and look at that with "wrun tool inspect".`}
	codeDevTests = code{"W0121", exitFailed, "tests of the tool fail", `
"wrun tool dev" has built the tool, and its own tests fail; what they say stands above. It goes on
watching: the next change is built and tested again.`}
	codeCases = code{"W0123", exitUsage, "the cases have mistakes", `
Files of cases are read strictly, and each mistake is given with its file and its line; or there
are none where they are looked for. Nothing was run. docs/testing.md describes the format.`}
	codeCaseFailed = code{"W0124", exitFailed, "a case failed", `
What came of a case is not what it expects, or the tool asked for something that the world of the
case does not have. What was expected and what came stand below the case, side by side.
"wrun test … --run NAME -v" runs one case and shows what its world saw. docs/testing.md says how a
tool is judged.`}

	codeDeclaration = code{"W0125", exitFailed, "the tool breaks its declaration", `
What a tool declares about being done twice decides what wrun does after a crash. --crash-points has
found that it is not so: the promise, the moment and the step that show it, and what the world saw and
the journal holds, beside an undisturbed call, stand below the case. Declare what the tool keeps
(nothing declared is always true), or let it keep what it declares. docs/crash-points.md explains each
kind of breach.`}

	codeFilter = code{"W0136", exitUsage, "the expression of --jq stopped", `
The expression of --jq could be read, and what it was given of the output it could not work on: it
asks for a part that is not there, gives what JSON does not have, or does not end. What the
command did is done, and only its output is missing; "wrun resume RUN" writes that of a run
again, and executes nothing. docs/json.md says what each verb writes.`}
	codeMetricsListen = code{"W0141", exitUsage, "metrics cannot be served there", `
--metrics-listen names an address that this machine does not have, that another process listens at, or
that is no HOST:PORT. Nothing was begun. ":0" takes a free port of 127.0.0.1, and which one it is
stands on standard error.`}

	codeModule = code{"W0201", exitUsage, "not a module that wrun can run", `
The file is empty, not WebAssembly, a component instead of a core module, built for
another version of the ABI, or without a manifest. "wrun tool build" makes modules that
are in order, and "wrun tool wrap" attaches a manifest; docs/abi.md says what a module
must have.`}
	codeUntrusted = code{"W0202", exitUntrusted, "the module wants more than it declares", `
What a module imports is the upper bound of what it can do, and its manifest has to ask
for the same, with a reason. Where they differ, the module is refused before any of it
runs.`}
	codeTooBig = code{"W0203", exitLimit, "the module is over a limit", `
A part of the module is larger than wrun accepts. The message names the limit.`}
	codeCompile = code{"W0204", exitLimit, "the module takes too much to compile", `
A module is compiled before it is first run, in a process of its own that may take 60 s and
2 GiB of memory. Nothing of the module ran, and nothing was written about a call of it. A
module of ordinary size that takes more was made to; one that is large, on a machine that
is slow or busy, may be allowed more if you trust it, with

  ` + strings.TrimSpace(moreToCompile) + `

before the same command, or before "wrun resume RUN" where there is a run already.`}
	codeCache = code{"W0205", exitUsage, "compiled code cannot be kept", `
Compiled code is kept in wrun/modules in the user's cache directory, or in the directory that
WRUN_CACHE names. It is run as it is found there, so the directory has to be the user's alone
(chmod 700), with room for about five times the size of a module. Nothing of the module ran.
Everything in it can be deleted at any time.`}

	codeNoJournal = code{"W0301", exitMissing, "no journal", `
There is no journal at this place. "wrun call" and "wrun run" make one; every other verb
wants one that is there. --journal or WRUN_JOURNAL say where.`}
	codeNoRun = code{"W0302", exitMissing, "no such run", `
The journal has no run of this id. "wrun ls" lists the runs.`}
	codeForeign = code{"W0303", exitMissing, "not a journal", `
There is something at this place, and wrun did not write it. It was not touched.`}
	codeBusy = code{"W0304", exitBusy, "the journal is busy", `
Another process holds the journal and does not let go. Processes share a journal and
let each other in between two commits, so one that stands still was probably stopped. Or it
backs up, restores, compacts, imports or collects: one of these goes on at a time, and the
message says who does what. --lock-timeout says how long to wait.`}
	codeDamaged = code{"W0305", exitDamaged, "the journal is damaged", `
What is there was written by wrun and has changed since: it is empty, cut short, or a
record does not fit its hash. Nothing was executed, and nothing was written. Keep the
file. "wrun verify" says what is affected, and "wrun verify --repair FILE" makes a copy of
what can be read; or go back to a backup. If nothing was in it yet, delete it.`}
	codeNewer = code{"W0306", exitDamaged, "the journal needs a newer wrun", `
It was written by a newer version. It was not touched.`}
	codeNoSpace = code{"W0307", exitFailed, "no space for the journal", `
There is no room left on the disk, or no inodes, or a quota is used up, or files may not grow
(ulimit -f). Space for what may come of an effect is held before the effect begins, so nothing
was begun whose outcome could not be recorded. Make room: the run goes on then.`}
	codeJournal = code{"W0308", exitFailed, "the journal failed", `
The operating system did not do what was asked, so it is not known what is on the disk.
Nothing was acknowledged after that. The next command reads what is there.`}
	codeNoArtifact = code{"W0309", exitMissing, "no such artifact", `
The run has no artifact of this digest. It has those that its own steps made: "wrun show
RUN" lists them. Those of other runs, modules and bodies of its log are none of it.`}

	codeOlder = code{"W0310", exitUsage, "the journal has an older schema", `
It was written by an older version, and --no-migrate said to leave it as it is. Without that
flag a copy of the file is kept beside it, and the journal is brought up to date in one step;
older versions of wrun refuse it from then on.`}

	codeOccupied = code{"W0311", exitUsage, "there is something already", `
Nothing is replaced that is not named. --force replaces a bundle, and no other file. Where a journal is
in the place of the one that is restored, --force puts it aside under another name, beside it.`}
	codeNotBundle = code{"W0312", exitUsage, "not a bundle of that sort", `
"wrun backup" and "wrun export" write bundles: the first of a whole journal, which "wrun restore"
puts back, the second of one run, which "wrun import", "wrun show" and "wrun log" take. This is
neither, or the other one. Nothing was written.`}
	codeBundleDamaged = code{"W0313", exitDamaged, "the bundle is damaged", `
The bundle is cut off or has changed since it was written, or what is in it breaks the rules of
logs. Nothing of it can be seen in any journal. Get another copy of it.`}
	codeBundleNewer = code{"W0314", exitDamaged, "the bundle needs a newer wrun", `
A newer version of wrun wrote it. Nothing was written.`}
	codeIncomplete = code{"W0317", exitDamaged, "not everything could be repaired", `
The copy is a whole journal, and holds of the damaged one what could be read. What is missing
stands above, by run and position. A run that was cut short, or was not finished, may have done
more than its log says: look at it with "wrun show RUN" before it goes on. The id of a run of
which nothing is left stays taken. Blobs that are missing are missing in the copy too, and
"wrun verify" says so. Put the copy in the place of the damaged journal when you have looked,
and keep that.`}

	codeUncertain = code{"W0401", exitUncertain, "outcome unknown", `
An effect that must not be repeated was announced in the journal, and no outcome is
recorded: the process died, or the other side broke off, in between. Nobody can know
from here whether it took place. Look it up with the provider, with the idempotency key
that "wrun show RUN" gives, and say what you found:

  wrun resolve RUN STEP --happened @reply.json --note "found it as ch_123"
  wrun resolve RUN STEP --did-not-happen       --note "not there"

then "wrun resume RUN" goes on. With --happened the tool gets that reply as if it had
just come; with --did-not-happen the step is attempted again, under the same key. A tool
that names a look-up is asked by itself on each resume, and by "wrun reconcile RUN".

A mail is found by its Message-ID, which is the key, an @ and the domain of the sender. Its
reply is {"message_id":"<KEY@DOMAIN>"}.

A program that could write to a directory is such an effect as a whole, and has no key.
Look at the directory: if it did its work, the reply is the tool's output; if it did not,
put back what it left half done before the program is entered again.`}
	codeWaiting = code{"W0402", exitWaiting, "the run waits", `
The run is suspended on disk until someone or a time lets it go on. "wrun inbox" shows what
it waits for where that is a person, and what to type. "wrun resume RUN --wait" waits here;
"wrun resume --due" goes on with every run that can.`}
	codeDiverged = code{"W0403", exitDiverged, "the run diverged from its log", `
While it was answered from the log, the driver or a tool asked for something else than
the log holds. Nothing was executed. A run is pinned to the modules, the plan and the
driver's version that it began with; a tool diverges when what it asks depends on
something that is not the same every time.`}
	codeDriven = code{"W0404", exitBusy, "the run is driven by another process", `
One process drives a run at a time. When that one ends, however it ends, another can go
on at once. If it cannot be told here whether the process lives, because its lock file
is gone or the journal was copied from elsewhere, "wrun resume RUN --take-over" goes on
nevertheless: you then vouch that it does not live.`}
	codeReplayLimit = code{"W0405", exitLimit, "a limit was reached while answering from the log", `
The host was too slow or too small to bring the tool back to where it was. Nothing was
recorded; on a less loaded machine the same command goes on. Where the limit is that of
fuel, this version of wrun counts fuel otherwise than the one that began the call; that
one goes on with it.`}
	codeFailed = code{"W0406", exitFailed, "the run failed", `
A tool or the plan said that it failed. The run is closed: resuming it returns the same.
"wrun show RUN" lists what happened. What a tool prints is not kept: a new run with --verbose
shows it. An agent whose model could not be asked goes on from there as a copy of the run, with
all that it has done: "wrun fork RUN --at STEP", where STEP is the model's that failed.`}
	codeDenied = code{"W0407", exitDenied, "denied", `
The operator's grants or the tool's own declaration do not allow it, and it was not
executed. The denial is recorded: the same run keeps it. Begin a new run with the grant
that the message names. Where a model's provider refused the key, or no key was to be had,
the run goes on as a copy once that is mended, with all that it has done: "wrun fork RUN
--at STEP", where STEP is the model's that failed.`}
	codeCancelled = code{"W0408", exitCancelled, "the run was cancelled", `
Somebody cancelled the run. What was under way was finished and recorded.`}
	codeLate = code{"W0409", exitUncertain, "an outcome arrived too late to count", `
A process that was taken for dead came back with the outcome of an effect. It is kept in
the log as late ("wrun log RUN"). Look at what it means for the run, then say so with
"wrun resolve RUN --acknowledge", and "wrun resume RUN" goes on.`}
	codeRestored = code{"W0410", exitUncertain, "the run was restored from a backup", `
The log may be older than the world: what it is about to do may have happened after the
backup was made. Look with the provider. If it has done nothing that the log does not know,
say so with "wrun resolve RUN --confirm", and "wrun resume RUN" goes on. If it has, "wrun
cancel RUN" closes the run.`}
	codeLimit = code{"W0411", exitLimit, "a limit was reached", `
The tool used up its time, its fuel, its memory or its output. The run is closed. A limit
of fuel is the manifest's or the run's own, --fuel, whichever is lower, and is reached at
the same point however often the call is entered again: a new run needs a higher one.`}
	codeTooSoon = code{"W0412", exitUncertain, "too soon to say", `
The request may still be on its way, so "did not happen" is not known yet. Wait until the
time given, or say --now if you know better; that is recorded.`}
	codeNothingOpen = code{"W0413", exitUsage, "nothing to settle there", `
The step is not one whose outcome is unknown. "wrun show RUN" lists the steps.`}
	codeClosed = code{"W0414", exitUsage, "the run is finished", `
A finished run stays as it is.`}
	codeInterrupted = code{"W0415", 130, "interrupted", `
The command was asked to stop. What was known is recorded; "wrun resume RUN" goes on. A backup,
an export, an import, a restore, a repair and compacting have then done nothing; "wrun gc" may
have removed some runs, and those wholly.`}
	codeDemo = code{"W0416", exitFailed, "the demo did not show what it promises", `
What the ledger counted and what the journal says do not agree with the promise. That is
a fault of wrun, or of a build that was broken on purpose.`}

	codeUnrecorded = code{"W0417", exitUncertain, "a reply could not be recorded", `
An effect took place, its reply came, and the journal could not take it. The reply was
saved in a file. For the journal the effect has no outcome; when it works again, and
before the run is resumed, the command above tells it what came of the effect.`}
	codeContradicted = code{"W0418", exitUsage, "the log says the opposite", `
The log holds an outcome of this effect that came too late to count, and it did take
place. "wrun log RUN" shows it.`}

	codeGaveUp = code{"W0419", exitGaveUp, "gave up waiting", `
The run still waits after all the time that --wait allowed. It is suspended on disk, as it
would have been without --wait. Of "wrun wait": it has not ended after all the time that
--timeout allowed, and nothing of it was touched.`}
	codeAnswered = code{"W0420", exitUsage, "answered already", `
The first answer counts. A yes can be taken back with "wrun deny RUN STEP" as long as what
was agreed to has not begun; a no stays.`}
	codeShown = code{"W0421", exitUsage, "it is about something else now", `
The digest is not that of what the question is about, or the question was put again, because
that has changed since it was first shown: the grants of the run, perhaps. Look at it with
"wrun inbox", and answer with the digest that it gives: --shown DIGEST.`}
	codeExpired = code{"W0422", exitDenied, "too late to agree", `
The time in which somebody could agree is over (--approve-by, or the policy). The run sees
that as a denial when it is resumed.`}
	codeOpen = code{"W0423", exitUsage, "the run is not finished", `
What is undone is what a run did, all of it. Finish the run, or cancel it first with "wrun
cancel RUN".`}
	codeNothingToUndo = code{"W0424", exitUsage, "nothing to undo", `
No call of the run had effects that a tool of its module undoes. What it did and nothing
undoes is listed above.`}
	codeNoStep = code{"W0425", exitUsage, "no such step", `
The run has no step of this name. "wrun show RUN" lists them.`}

	codeNotUndone = code{"W0426", exitFailed, "the rollback does not undo all", `
The rollback was begun before it was known that the steps named had effects: they were in
doubt, and settled since. A rollback is pinned to what it began with. The tools that undo
the rest, with their inputs, stand under "known"; call them by hand with "wrun call".`}

	codeUngranted = code{"W0427", exitUntrusted, "a directory is not granted", `
A program can be given directories and nothing else, and its manifest says which ones it
wants and why. The operator says which directory of this machine each one is: --dir
NAME=PATH to read it, --dir NAME=PATH:rw to let the program change it. Nothing was written
and nothing was entered.`}
	codeDir = code{"W0428", exitUsage, "a directory cannot be used", `
A directory that the run was granted is not there any more or cannot be opened, or its
name was granted before for another one. Nothing was entered. Once it is back where it
was, "wrun resume RUN" goes on; for another directory begin another run. The workspace
may move: "wrun resume RUN --workspace DIR" brings the run's files there. "wrun show RUN
--files DIR" wants a directory that is empty or new.`}
	codeMemory = code{"W0429", exitLimit, "not enough memory for the calls at hand", `
All calls of a process together have a budget of memory, and a call that does not fit
waits until others end. This one could not wait: it wants more than the whole budget, or
every call that holds memory waited for the others, and it asked last. Or the operating
system had no memory. The call has no outcome and nothing of it is repeated: "wrun resume
RUN" goes on, with fewer calls at a time if there can be, or with more memory:
--memory-budget SIZE.`}

	codeConflict = code{"W0430", exitUsage, "the grants contradict each other", `
A secret has one source, a setting one value, a run one mail account and, when it begins, one
workspace. Two grants say different things of one of these: two flags, a flag and grants.yaml,
what was said when the tool was added, or what the run began with. Which one counts must not
depend on an order, so nothing was entered. Take one of them back, or begin another run.`}
	codeOthers = code{"W0431", exitUntrusted, "others could have written the configuration", `
What grants authority has to be the user's own: grants.yaml, what "wrun tool add" remembers, and
the directories that they are in. One of them belongs to another user, or its mode lets others
write to it. Look at what is in it, then take it over or take the right away:

  chmod go-w PATH

On Windows nothing of this is looked at: there the access rights of the user's own directory
keep others out.`}
	codeNotAdded = code{"W0432", exitUsage, "no such tool was added", `
A module is named by its file, with a / in the path or .wasm at the end, or by the name under
which it was added: wrun tool add FILE.wasm. "wrun tool ls" lists those that were. What lies in
the working directory is never taken for a tool that was added.`}
	codeChanged = code{"W0433", exitUntrusted, "not the bytes that were added", `
What was granted when a tool was added belongs to the bytes that were looked at then. What lies
in their place has another digest, or nothing does. Nothing of it was run. Find out what happened
to the file; then remove the tool and add the one that you mean:

  wrun tool rm NAME
  wrun tool add FILE.wasm

Runs that began before keep the bytes and the grants that are in the journal.`}
	codeMoved = code{"W0434", exitBusy, "another process changed it meanwhile", `
Another process added, changed or removed the tool while you were looking at it, so that what
you agreed to is not what would be done. Nothing was changed. The same command again shows what
is there now.`}

	codeBudget = code{"W0435", exitLimit, "the run has taken as much as it may", `
The run has used up what it may take in all: steps, tokens of a model, money or time. What it
did is recorded, and nothing is lost: the run is not closed, and no automatic driver goes on
with it. "wrun resume RUN" with a higher limit does: --max-steps, --max-tokens, --max-cost or
--max-time, which is recorded and counts from then on, in all and not once more.`}

	codeRunQuota = code{"W0443", exitLimit, "the run takes as much space as it may", `
What the run has written, its entries and its artifacts, has reached --run-quota. A step that
had begun was recorded whatever it took; the next one does not begin. Nothing is lost: the run
is not closed, and no automatic driver goes on with it. "wrun resume RUN" with a higher
--run-quota does, or without one. "wrun log RUN" shows what was written.`}
	codeJournalQuota = code{"W0444", exitLimit, "the journal takes as much space as it may", `
The journal's file and its blobs have reached --journal-quota. A step that had begun was
recorded whatever it took; the next one does not begin. The run is not closed, and no automatic
driver goes on with it. Make room first, or say a higher --journal-quota: "wrun gc --keep done=30d"
removes runs that ended long ago and what no run names, and "wrun compact" gives back what they
took in the file. "wrun resume RUN" goes on then.`}
	codeCrashed = code{"W0445", exitFailed, "the run crashed again and again", `
The process that drove the run died three times in a row without any progress, so that nothing goes
on with the run by itself any more. What was under way when it died is on the disk: "wrun log RUN"
ends with it. "wrun resume RUN" tries once more.`}
	codeImported = code{"W0436", exitUsage, "the run is driven elsewhere", `
The run came here in a bundle: "wrun import". It can be looked at and
replayed here. Driving it, or rolling it back, in two places would do things twice, so that is done where it was
exported from.`}
	codeRemoved = code{"W0437", exitUsage, "the run was removed", `
A run of this id was finished and then removed from the journal ("wrun gc"). The id stays taken:
idempotency keys are made of it, so another run of the same name could be taken for the first.
Choose another id for a new run. "wrun ls --removed RUN" says how it ended.`}
	codeReplayDiffers = code{"W0438", exitDiverged, "the replay differs from the log", `
The modules of recorded calls were entered once more and answered from the log, and some asked
for something else, or came to something else, than the log holds. Nothing was executed and
nothing was written: the run is as it was. With --tool that is what another version of the
tool would have done differently. Without it the module depends on something that is not
recorded, or this wrun answers it in another way than the one that recorded it: then please
report it, with the run ("wrun export RUN"), if what is in it may be seen.
docs/replay.md says how to read what is shown.`}
	codeReplayCannot = code{"W0439", exitFailed, "not every call could be replayed", `
The module of a call or a part of the log that it needs is gone, or the module took longer than
it may. What is said of the other calls holds. "wrun verify" says what is missing from the
journal; --call-timeout says how long each call may compute.`}
	codeRunsDiffer = code{"W0440", exitDiverged, "the runs differ", `
"wrun diff" found steps that only one of the runs has, or that called something else, asked for
something else or came to something else, or runs that are made of something else. What differs
stands above, the first step that does at the top. Both runs are as they were.`}

	codeDoctor = code{"W0455", exitFailed, "something is not in order here", `
"wrun doctor" found what keeps wrun from working as it promises. Each finding stands above, with what to do
about it. It has changed nothing.`}

	codeOutput = code{"W0502", exitFailed, "the output could not be written", `
What the command had to say did not reach standard output. A run's output is in the
journal: "wrun resume RUN" writes it again, and executes nothing.`}

	codeOther = code{"W0501", exitFailed, "failed", `
Something went wrong that has no code of its own. The message says what.`}
)

// codes lists every code in order.
var codes = []code{
	codeUsage, codeInput, codeOtherRun, codePlan, codeNoTool, codeFile, codeBuild, codeConfig, codeNotAgreed, codeManifest, codeSecret, codeScript,
	codeAgent, codeModelChoice, codeNoModel, codeModelKey, codeToolchain, codeOccupiedDir, codeNotPackage, codePackageDiffers, codeDevTests, codeCases, codeCaseFailed, codeDeclaration, codeCrashtest, codeAmbiguous, codeNoChoice,
	codeFilter, codeMetricsListen,
	codeModule, codeUntrusted, codeTooBig, codeCompile, codeCache,
	codeNoJournal, codeNoRun, codeForeign, codeBusy, codeDamaged, codeNewer, codeNoSpace, codeJournal, codeNoArtifact, codeOlder,
	codeOccupied, codeNotBundle, codeBundleDamaged, codeBundleNewer, codeIncomplete,
	codeUncertain, codeWaiting, codeDiverged, codeDriven, codeReplayLimit, codeFailed, codeDenied, codeCancelled, codeLate,
	codeRestored, codeLimit, codeTooSoon, codeNothingOpen, codeClosed, codeInterrupted, codeDemo, codeUnrecorded, codeContradicted,
	codeGaveUp, codeAnswered, codeShown, codeExpired, codeOpen, codeNothingToUndo, codeNoStep, codeNotUndone,
	codeUngranted, codeDir, codeMemory, codeConflict, codeOthers, codeNotAdded, codeChanged, codeMoved, codeBudget, codeRunQuota, codeJournalQuota, codeCrashed, codeImported, codeRemoved, codeReplayDiffers, codeReplayCannot, codeRunsDiffer,
	codeDoctor,
	codeOther, codeOutput,
}
