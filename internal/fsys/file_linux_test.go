package fsys

import (
	"bytes"
	"errors"
	"io"
	"os"
	"os/signal"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

func (y yard) open(name string) *File {
	y.t.Helper()
	target, err := y.resolve(NewResolver(), name)
	y.must(err)
	f, err := target.Open()
	y.must(err)
	y.t.Cleanup(func() { f.Close() })
	return f
}

func TestReadAll(t *testing.T) {
	for _, size := range []int{0, 1, 1023, 1024, 1025, 4095, 4096, 1 << 20} {
		y := newYard(t)
		want := strings.Repeat("x", size)
		y.file("a", want)
		f := y.open("a")
		for range 2 {
			got, stamp, err := f.ReadAll(1 << 20)
			if err != nil || string(got) != want || stamp.Size != int64(size) {
				t.Errorf("%d: %d bytes, %+v, %v", size, len(got), stamp, err)
			}
		}
		_, _, err := f.ReadAll(int64(size) - 1)
		var large *TooLargeError
		if !errors.As(err, &large) || large.Size != int64(size) {
			t.Errorf("%d: %v", size, err)
		}
	}
}

func TestReadAt(t *testing.T) {
	y := newYard(t)
	y.file("a", "hello")
	f := y.open("a")
	buf := make([]byte, 3)
	if n, err := f.ReadAt(buf, 1); n != 3 || err != nil || string(buf) != "ell" {
		t.Errorf("%q, %v", buf[:n], err)
	}
	if n, err := f.ReadAt(buf, 3); n != 2 || err != io.EOF || string(buf[:n]) != "lo" {
		t.Errorf("%q, %v", buf[:n], err)
	}
	if _, err := f.ReadAt(buf, 9); err != io.EOF {
		t.Error(err)
	}
	if _, err := f.ReadAt(buf, -1); err == nil {
		t.Error("read before the start")
	}
	f.Close()
	if err := f.Close(); err != nil {
		t.Error(err)
	}
	if _, err := f.ReadAt(buf, 0); !errors.Is(err, os.ErrClosed) {
		t.Error(err)
	}
	if _, err := f.Stamp(); err == nil {
		t.Error("stamp of a closed file")
	}
}

// TestReadAllAfterChange: what was resolved long ago is read as it is now, with
// the stamp of now.
func TestReadAllAfterChange(t *testing.T) {
	for name, change := range map[string]func(y yard){
		"longer":  func(y yard) { y.file("a", strings.Repeat("new", 1000)) },
		"shorter": func(y yard) { y.file("a", "n") },
		"touched": func(y yard) { y.must(os.Chtimes(y.at("a"), time.Time{}, time.Unix(1, 0))) },
	} {
		y := newYard(t)
		y.file("a", "old content")
		f := y.open("a")
		change(y)
		want, err := os.ReadFile(y.at("a"))
		y.must(err)
		got, stamp, err := f.ReadAll(1 << 20)
		now, _ := f.Stamp()
		if err != nil || !bytes.Equal(got, want) || !stamp.Same(now) {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
}

// TestReadAllUnstable: a file that is rewritten all the time is either read
// whole or refused, and that in bounded time.
func TestReadAllUnstable(t *testing.T) {
	y := newYard(t)
	const size = 64 << 10
	y.file("a", strings.Repeat("a", size))
	f, stop, done := y.open("a"), make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		writer, err := os.OpenFile(y.at("a"), os.O_WRONLY, 0)
		if err != nil {
			t.Error(err)
			return
		}
		defer writer.Close()
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			default:
				writer.WriteAt(bytes.Repeat([]byte{'a' + byte(i%26)}, size+i%7), 0)
			}
		}
	}()
	for end, i := time.Now().Add(200*time.Millisecond), 0; time.Now().Before(end); i++ {
		read := f.ReadAll
		if i%2 == 0 {
			read = f.ReadLarge
		}
		got, _, err := read(1 << 20)
		if err != nil && !errors.Is(err, ErrUnstable) || err == nil && len(got) < size {
			t.Fatal(len(got), err)
		}
	}
	close(stop)
	<-done
}

// TestReadAllOfALog: a file that is appended to all the time is read as it was a
// moment ago, under the stamp of then.
func TestReadAllOfALog(t *testing.T) {
	y := newYard(t)
	const size = 1 << 20
	y.file("a", strings.Repeat("a", size))
	stop, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		writer, err := os.OpenFile(y.at("a"), os.O_WRONLY|os.O_APPEND, 0)
		if err != nil {
			t.Error(err)
			return
		}
		defer writer.Close()
		for {
			select {
			case <-stop:
				return
			default:
				writer.WriteString("b")
			}
		}
	}()
	f := y.open("a")
	for range 15 {
		got, stamp, err := f.ReadAll(1 << 30)
		if err != nil || int64(len(got)) != stamp.Size || strings.TrimRight(string(got[size:]), "b") != "" {
			t.Fatal(len(got), stamp, err)
		}
	}
	close(stop)
	<-done
}

// TestReadAllUnknownSize: some file systems state no size.
func TestReadAllUnknownSize(t *testing.T) {
	y := newYard(t)
	f := y.open("/proc/version")
	want, err := os.ReadFile("/proc/version")
	y.must(err)
	got, _, err := f.ReadAll(1 << 20)
	if err != nil || !bytes.Equal(got, want) {
		t.Errorf("%q, %v", got, err)
	}
	if _, _, err := f.ReadAll(10); err == nil {
		t.Error("bound passed")
	}
}

// TestOpenAfterSwap: through the pin comes the file that was resolved, or (where
// there is no /proc) an error, never the one that took its name.
func TestOpenAfterSwap(t *testing.T) {
	everyWay(t, func(t *testing.T, r *Resolver) {
		y := newYard(t)
		y.file("ws/a", "resolved")
		y.file("out/a", "outside")
		target, err := y.resolve(r, "ws/a")
		y.must(err)
		y.must(os.Rename(y.at("ws"), y.at("gone")))
		y.link("ws", "out")
		if got, err := y.read(target); got != "resolved" && !errors.Is(err, ErrMoved) {
			t.Errorf("%q, %v", got, err)
		}
		for range 2 {
			if f, err := target.Open(); err == nil {
				f.Close()
			}
		}
	})
}

// TestOpenLeased: a program that holds a lease and does not release it costs two seconds, not
// the 45 of the kernel, and the file is said to be written to. One that releases it is waited
// for, also in a search.
func TestOpenLeased(t *testing.T) {
	y := newYard(t)
	y.file("a", "x")
	holder, err := unix.Open(y.at("a"), unix.O_RDWR, 0)
	y.must(err)
	defer unix.Close(holder)
	if _, err := unix.FcntlInt(uintptr(holder), unix.F_SETLEASE, unix.F_WRLCK); err != nil {
		t.Skipf("!!! NOT TESTED: this file system has no leases: %v !!!", err)
	}
	target, err := y.resolve(NewResolver(), "a")
	y.must(err)
	inTime(t, 5*time.Second, "what is leased", func() {
		var want error = ErrUnstable
		if portable { // the other systems have no such leases: nothing waits for one
			want = unix.EAGAIN
		}
		if _, err := target.Open(); !errors.Is(err, want) {
			t.Error(err)
		}
	})
	if portable {
		return
	}
	folder, err := y.resolve(NewResolver(), ".")
	y.must(err)
	dir, err := folder.OpenDir()
	y.must(err)
	defer dir.Close()
	broken := make(chan os.Signal, 1)
	signal.Notify(broken, unix.SIGIO)
	defer signal.Stop(broken)
	target.Close() // as long as it is open nowhere else, the file can be leased
	for name, open := range map[string]func() (*File, error){
		"Read": func() (*File, error) {
			target, err := y.resolve(NewResolver(), "a")
			y.must(err)
			defer target.Close()
			return target.Open()
		},
		"search": func() (*File, error) { return dir.Open("a") },
	} {
		unix.FcntlInt(uintptr(holder), unix.F_SETLEASE, unix.F_UNLCK) // that of before, if there is one
		for len(broken) > 0 {
			<-broken
		}
		if _, err := unix.FcntlInt(uintptr(holder), unix.F_SETLEASE, unix.F_WRLCK); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		go func() {
			<-broken
			unix.FcntlInt(uintptr(holder), unix.F_SETLEASE, unix.F_UNLCK)
		}()
		f, err := open()
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		f.Close()
	}
}

func TestOnNetwork(t *testing.T) {
	for magic, want := range map[uint32]bool{0x6969: true, 0x65735546: true, 0xFF534D42: true, 0xEF53: false, unix.TMPFS_MAGIC: false} {
		if isRemote(magic) != want {
			t.Errorf("%#x: %v", magic, !want)
		}
	}
	if !OnNetwork(-1) {
		t.Error("what cannot be asked is trusted")
	}
}

func TestReadLarge(t *testing.T) {
	long := strings.Repeat("a line of the file\n", 40_000) // of several pieces
	for name, c := range map[string]struct {
		change func(y yard)
		max    int64
		want   string
		large  bool
	}{
		"as it is":            {max: 1 << 20, want: long},
		"grown":               {change: func(y yard) { y.file("a", long+"more") }, max: 1 << 20, want: long + "more"},
		"cut":                 {change: func(y yard) { y.file("a", "short") }, max: 1 << 20, want: "short"},
		"empty":               {change: func(y yard) { y.file("a", "") }, max: 1 << 20},
		"larger than allowed": {max: 10, large: true},
	} {
		y := newYard(t)
		y.file("a", long)
		f := y.open("a")
		if c.change != nil {
			c.change(y)
		}
		got, stamp, err := f.ReadLarge(c.max)
		if c.large {
			if !errors.As(err, new(*TooLargeError)) {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		if now, _ := f.Stamp(); err != nil || string(got) != c.want || !stamp.Same(now) {
			t.Errorf("%s: %d bytes, %v", name, len(got), err)
		}
	}
}

func TestReadAgainNoticesAnyChange(t *testing.T) {
	y := newYard(t)
	content := bytes.Repeat([]byte("0123456789"), 60_000)
	y.file("a", string(content))
	f := y.open("a")
	for _, at := range []int{-1, 0, 256<<10 - 1, 256 << 10, len(content) - 1} {
		b := bytes.Clone(content)
		if at >= 0 {
			b[at] = 'X'
		}
		if same, err := f.readAgain(b); err != nil || same != (at < 0) || !bytes.Equal(b, content) {
			t.Errorf("a change at %d: same %v, %v", at, same, err)
		}
	}
}
