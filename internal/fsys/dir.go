package fsys

// OpenDir opens a resolved folder, so that a walk can go on below it. The Dir stays open
// when the target is closed.
func (t *Target) OpenDir() (*Dir, error) {
	if t.Kind != Directory {
		return nil, fault("open", t.Path, ErrNotDir)
	}
	d, err := t.openDir()
	return d, fault("open", t.Path, err)
}

// OpenDir opens the folder rel, slash-separated and below d; "" opens d again. No link on
// the way is followed.
func (d *Dir) OpenDir(rel string) (*Dir, error) {
	sub, err := d.openDir(rel)
	return sub, fault("open", rel, err)
}

// Open opens the regular file name of this folder for reading, without blocking and
// without following a link. Anything else is ErrNotRegular, even if the system had to
// open it to find that out. A file whose content is not on this machine is ErrNotHere: nothing
// fetches it.
func (d *Dir) Open(name string) (*File, error) {
	f, err := d.open(name)
	return f, fault("open", name, err)
}

// Stat returns the stamp and the kind of a name of this folder; of a link it is the
// link's own, Special.
func (d *Dir) Stat(name string) (Stamp, Kind, error) {
	s, k, err := d.stat(name)
	return s, k, fault("stat", name, err)
}

// Read reads up to len(p) bytes at an offset in one system call, when the system can; 0
// bytes are the end of the file.
func (f *File) Read(p []byte, off int64) (int, error) {
	n, err := f.pread(p, off)
	return n, fault("read", f.name, err)
}

// Opened is the stamp that the file had when it was opened.
func (f *File) Opened() Stamp { return f.opened }
