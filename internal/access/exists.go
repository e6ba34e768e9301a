package access

import (
	"io/fs"

	"github.com/fsmcp/fsmcp/internal/fsys"
	"github.com/fsmcp/fsmcp/internal/perm"
)

// Exists reports whether path exists. It returns false if the verdict on it is stricter than
// least.
func (c *Checker) Exists(op perm.Op, path fsys.Path, least perm.Verdict) bool {
	t := c.permitted(op, path, least)
	if t == nil {
		return false
	}
	defer t.Close()
	return t.Kind != fsys.Missing
}

// Readable reports whether a Read of an absolute name would find something and take
// no question, by every name and hard link that it has.
func (c *Checker) Readable(name string) bool {
	path, err := c.absolute(name)
	return err == nil && c.Exists(perm.Read, path, perm.Allow)
}

// ForReading resolves an absolute name. It returns nil if a Read would take a
// question or be denied, by any name or hard link of the file.
func (c *Checker) ForReading(name string) *fsys.Target {
	path, err := c.absolute(name)
	if err != nil {
		return nil
	}
	return c.permitted(perm.Read, path, perm.Allow)
}

// ReadFile returns the bytes of a regular file of at most so many that ForReading resolves.
// Otherwise the error is fs.ErrPermission, fsys.ErrNotRegular, *fsys.TooLargeError or that of
// the system.
func (c *Checker) ReadFile(name string, most int64) ([]byte, error) {
	t := c.ForReading(name)
	if t == nil {
		return nil, fs.ErrPermission
	}
	defer t.Close()
	f, err := t.Open()
	if err != nil {
		return nil, err
	}
	defer f.Close()
	b, _, err := f.ReadAll(most)
	return b, err
}

// Again is Check of a Read by the absolute name of a file that was shown before.
func (c *Checker) Again(name string, session perm.Grants) (*fsys.Target, error) {
	path, err := c.absolute(name)
	if err != nil {
		return nil, err
	}
	return c.Check(Request{Op: perm.Read, Path: path, Session: session})
}

// permitted resolves a name. It returns nil if the verdict is stricter than least, by any name
// or hard link of the file.
func (c *Checker) permitted(op perm.Op, path fsys.Path, least perm.Verdict) *fsys.Target {
	d, t, err := c.decide(Request{Op: op, Path: path}, func(d perm.Decision) bool { return d.Verdict >= least })
	if t != nil && (err != nil || d.Verdict < least) {
		t.Close()
		return nil
	}
	return t
}

// isThere tells the policy whether a name exists: a bare repository is recognised by its
// HEAD. A link to nothing counts as existing, because git accepts such a HEAD.
func (c *Checker) isThere(name string) bool {
	t, err := c.find(name)
	if t == nil {
		return false
	}
	defer t.Close()
	if err != nil || t.Kind != fsys.Missing {
		return true
	}
	dir, err := c.find(t.Asked.Dir())
	if dir == nil {
		return false
	}
	defer dir.Close()
	return err == nil && dir.Kind == fsys.Directory && t.Path != fsys.Join(dir.Path, t.Asked.Base())
}

// EntryAt resolves an absolute name itself, without a decision: one was made on it. A link at
// the last step is not followed.
func (c *Checker) EntryAt(name string) (*fsys.Target, error) {
	path, err := c.absolute(name)
	if err != nil {
		return nil, err
	}
	t, err := c.Resolver.ResolveEntry(path)
	if err != nil {
		t.Close()
		return nil, err
	}
	return t, nil
}

// find resolves an absolute name that no caller gave, without a decision. The target
// is nil if nothing certainly has the name.
func (c *Checker) find(name string) (*fsys.Target, error) {
	path, err := c.absolute(name)
	if err != nil {
		return nil, err
	}
	if c.Resolver.Absent(path) {
		return nil, fs.ErrNotExist
	}
	return c.Resolver.Resolve(path)
}

// absolute parses a name that does not depend on the workspace.
func (c *Checker) absolute(name string) (fsys.Path, error) {
	return fsys.Lexer{OS: c.Lexer().OS}.Parse(name)
}
