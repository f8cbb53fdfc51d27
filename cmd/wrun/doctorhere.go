package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime"
	"strings"

	"github.com/spf13/cobra"

	"github.com/wrun-dev/wrun/drivers/agent"
	"github.com/wrun-dev/wrun/runtime/sandbox/memory"
)

func checkPermissions(a *app, _ context.Context) finding {
	path, err := a.journal()
	if err != nil {
		return a.failure(failing, err)
	}
	config, err := a.config()
	if err != nil {
		return a.failure(failing, err)
	}
	if runtime.GOOS == "windows" {
		return fine("the access rights of the user's own directory keep others out; nothing of it is looked at")
	}
	var read []string
	for i, p := range append(beside(path), config) {
		info, err := os.Stat(p)
		switch {
		case p == "" || errors.Is(err, fs.ErrNotExist), err == nil && !info.Mode().IsRegular() && !info.IsDir():
		case err != nil:
			return a.failure(failing, fileError(err))
		case info.Mode().Perm()&0o022 != 0 && info.Mode()&fs.ModeSticky == 0:
			return finding{failing, fmt.Sprintf("%s (%s) can be written to by others", p, info.Mode()), "chmod go-w " + quoted(p)}
		case info.Mode().Perm()&0o044 != 0 && i > 0 && p != config:
			read = append(read, p)
		}
	}
	if len(read) > 0 {
		return finding{warning, some(read) + " can be read by others, and runs may hold what is not for them", "chmod go-rwx " + quoted(read[0])}
	}
	return fine("the journal and the configuration are the user's own")
}

func checkCache(a *app, _ context.Context) finding {
	dir := cachePath()
	if dir == "" {
		return finding{warning, "there is no place for compiled modules, so that each is compiled again by every process", "say WRUN_CACHE=DIRECTORY"}
	}
	info, err := os.Stat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fine("%s is not there yet; the first call makes it", dir)
	case err != nil:
		return a.failure(failing, fileError(err))
	case !info.IsDir():
		return finding{failing, dir + " is not a directory", "say WRUN_CACHE=DIRECTORY"}
	case runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0:
		return finding{failing, fmt.Sprintf("%s (%s) is not the user's alone, and what is in it is run", dir, info.Mode()), "chmod 700 " + quoted(dir)}
	case !writable(dir):
		return finding{warning, dir + " cannot be written to, so that modules are compiled again by every process", "say WRUN_CACHE=DIRECTORY"}
	}
	return fine("%s", dir)
}

func checkPolicy(a *app, _ context.Context) finding {
	p, err := a.policy()
	switch {
	case err != nil:
		return a.failure(failing, err)
	case p == nil:
		return fine("there is none: the manifests decide")
	}
	return fine("policy.yaml is in order")
}

func checkGrants(a *app, _ context.Context) finding {
	g, err := a.operatorGrants(&cobra.Command{}, &grantFlags{})
	switch {
	case err != nil:
		return a.failure(failing, err)
	case g.file.IsZero():
		return fine("grants.yaml grants nothing, or is not there")
	}
	return fine("grants.yaml is in order")
}

func checkAdded(a *app, ctx context.Context) finding {
	box, err := a.toolbox()
	if err != nil {
		return a.failure(failing, err)
	}
	records, err := box.List()
	if err != nil {
		return a.failure(failing, a.boxError(err))
	}
	for _, rec := range records {
		if _, err := box.Module(rec); err != nil {
			return a.failure(failing, a.boxError(err))
		}
		if ctx.Err() != nil {
			break
		}
	}
	return fine("%s; their bytes are those that were looked at", number(uint64(len(records)), "tool was added", "tools were added"))
}

func checkModel(a *app, _ context.Context) finding {
	m := agent.Model{Protocol: agent.Scripted}
	if err := a.chooseModel(&m); err != nil {
		return a.failure(failing, err)
	}
	if !isSet(envModel) {
		return fine("what an agent's file says is asked")
	}
	if m.Protocol != agent.Scripted && m.Key == "" {
		return finding{warning, fmt.Sprintf("%s is asked, without a key", m.Where()), "say " + envKey + "=env:VARIABLE where it wants one"}
	}
	if name, ok := strings.CutPrefix(m.Key, "env:"); ok && !isSet(name) {
		return finding{failing, fmt.Sprintf("%s is asked, and %s, which has the key, is not set", m.Where(), name), "set it, or say where the key is: " + envKey + "=file:PATH"}
	}
	return fine("%s is asked", m.Where())
}

func checkCompiler(a *app, _ context.Context) finding {
	c, err := compilerCommand()
	if err != nil {
		return a.failure(failing, err)
	}
	timeout, most := compileLimits(c)
	if limit, what := processMemory(); limit != 0 && limit < most {
		return finding{warning, fmt.Sprintf("this process may have %s (%s), less than the %s that compiling a module may take", bytesText(int64(limit)), what, bytesText(int64(most))), what + " unlimited, or " + envCompileMemory + " with less"}
	}
	return fine("a module may take %s and %s to compile, in a process of its own", timeout, bytesText(int64(most)))
}

func checkInstances(*app, context.Context) finding {
	switch way := memory.Tells(); {
	case way == "" && runtime.GOOS == "linux":
		return finding{warning, "the kernel does not tell which pages were written (userfaultfd, PAGEMAP_SCAN, pagemap), so that all memory of an instance is compared before it is used again", "a kernel from 6.7 on, or one that lets this process read /proc/self/pagemap, makes calls faster"}
	case way == "":
		return fine("all memory of an instance is compared before it is used again, as everywhere but on Linux")
	case way != "userfaultfd":
		return fine("the kernel tells which pages were written, by %s; userfaultfd (Linux 6.7) would be faster", way)
	}
	return fine("the kernel tells which pages were written, by userfaultfd")
}
