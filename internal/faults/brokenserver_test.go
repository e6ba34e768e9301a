//go:build linux

package faults

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"github.com/fsmcp/fsmcp/internal/app"
	"github.com/fsmcp/fsmcp/internal/fsys"
	"github.com/fsmcp/fsmcp/internal/save/sys"
	"github.com/fsmcp/fsmcp/internal/settings"
	"github.com/fsmcp/fsmcp/internal/tools"
)

// brokenServer serves as fsmcp does, but some of its system calls do nothing.
func brokenServer(args []string, broken string) error {
	s := settings.System{Getenv: os.Getenv, Home: os.Getenv("HOME")}
	s.WorkDir, _ = os.Getwd()
	cfg, _, err := settings.New(settings.Flags{Dirs: args[1:]}, app.WithDisk(s), tools.DefaultMaxTokens)
	if err != nil {
		return err
	}
	calls := &brokenCalls{Sys: sys.New(nil), stamps: map[string]fsys.Stamp{}, compared: map[string]fsys.Stamp{}}
	for part := range strings.SplitSeq(broken, ",") {
		switch part {
		case "lock":
			calls.noLock = true
		case "look":
			calls.noLook = true
		case "lease":
			calls.noLease = true
		case "":
		default:
			return fmt.Errorf("there is no part %q", part)
		}
	}
	none := func() string { return "" }
	a, err := app.New(app.Options{Settings: cfg, Log: zerolog.Nop(), Version: "broken", Slowdown: 1, Sys: calls,
		Programs: app.Programs{Pictures: none, PDFs: none, Media: none}})
	if err != nil {
		return err
	}
	defer a.Close()
	return a.Serve(context.Background(), os.Stdin, os.Stdout)
}

// brokenCalls are the system's calls, with pauses around an exchange, without a part of the
// protocol.
type brokenCalls struct {
	sys.Sys
	noLock  bool // no lock keeps other servers out
	noLook  bool // what an exchange displaced looks like what was compared
	noLease bool // no lease tells of other programs, and none is missed

	mu       sync.Mutex
	stamps   map[string]fsys.Stamp // by name, as it was last looked at
	compared map[string]fsys.Stamp // by the name of a displaced file: the stamp before the exchange
}

func (b *brokenCalls) Flock(fd, how int) error {
	if b.noLock {
		return nil
	}
	return b.Sys.Flock(fd, how)
}

func (b *brokenCalls) SetLease(fd, kind int) error {
	if b.noLease {
		return nil
	}
	return b.Sys.SetLease(fd, kind)
}

func (b *brokenCalls) GetLease(fd int) (int, error) {
	if b.noLease {
		return sys.ReadLease, nil
	}
	return b.Sys.GetLease(fd)
}

func (b *brokenCalls) Fstatat(dir int, name string) (fsys.Stamp, error) {
	st, err := b.Sys.Fstatat(dir, name)
	b.mu.Lock()
	defer b.mu.Unlock()
	if was, ok := b.compared[name]; ok && b.noLook && err == nil {
		delete(b.compared, name) // looks at it after that are for the way back
		return was, nil
	}
	b.stamps[name] = st
	return st, err
}

func (b *brokenCalls) Rename(dir int, from, to string, flags uint) error {
	if flags != sys.Exchange {
		return b.Sys.Rename(dir, from, to, flags)
	}
	time.Sleep(time.Duration(rand.IntN(2000)) * time.Microsecond)
	err := b.Sys.Rename(dir, from, to, flags)
	b.mu.Lock()
	b.compared[from] = b.stamps[to]
	b.mu.Unlock()
	time.Sleep(time.Duration(rand.IntN(1000)) * time.Microsecond)
	return err
}
