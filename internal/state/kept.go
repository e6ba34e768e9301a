package state

import "crypto/sha256"

// Kept returns what outlives the process of a record: hashes and ranges, no text. A file whose
// text was known is still compared as a whole, by its hash. Nothing is left of what only
// reminders have shown, nor of the views that were served: no stub follows from it.
func (r Record) Kept() Record {
	if r.Text != nil {
		r.All = sha256.Sum256(r.Text)
	}
	r = r.withoutText()
	return Record{Stamp: r.Stamp, Parts: r.Parts, Older: r.Older, All: r.All, Enc: r.Enc}
}

// Keep has the files begin with the records of an earlier process: load returns them when a
// record is first asked for. changed is called when TakeChanged has something to return; it
// must be quick. Keep is called before the files are used.
func (f *Files) Keep(load func() map[string]Record, changed func()) {
	f.load, f.changed = load, changed
}

// TakeChanged returns by their paths the records that were put since the last call; nil stands for
// one that was forgotten.
func (f *Files) TakeChanged() map[string]*Record {
	f.mu.Lock()
	defer f.mu.Unlock()
	taken := make(map[string]*Record, len(f.touched))
	for path := range f.touched {
		taken[path] = nil
		if el, ok := f.byKey[path]; ok {
			rec := el.Value.(*entry).rec
			taken[path] = &rec
		}
	}
	f.touched = nil
	return taken
}

// touch notes that the record of a path is another one than was kept. f is locked.
func (f *Files) touch(path string) {
	if f.changed == nil {
		return
	}
	if f.touched == nil {
		f.touched = make(map[string]struct{})
		f.changed()
	}
	f.touched[path] = struct{}{}
}

// loaded takes over the records of an earlier process, once. f is locked.
func (f *Files) loaded() {
	load := f.load
	if f.load = nil; load == nil {
		return
	}
	for path, rec := range load() {
		f.byKey[path] = f.used.PushBack(&entry{path: path, rec: rec})
	}
}
