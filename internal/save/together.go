package save

import (
	"errors"
	"time"
)

// ErrStopped: a change that waited for others was taken back, since one of them failed.
var ErrStopped = errors.New("another change of the call failed")

// Together has a change wait for others, so that their folders are synced once. wait is called
// once: when the new file shows in the place of the old one, which is kept beside it. It returns
// after SyncTogether, or with an error, and the old file gets its name back. Where a file is not
// replaced by an exchange, wait is called before anything shows.
func (x *Txn) Together(wait func() error) {
	x.at.together = func() (synced bool, err error) {
		err = wait()
		return x.lasting, err
	}
}

// awaitOthers waits, the first time that it is called.
func (p *place) awaitOthers() (synced bool, err error) {
	wait := p.together
	p.together = nil
	return wait()
}

// SyncTogether syncs the folders of changes that wait, each folder once. It takes openWithin
// at least, as exchange.verify needs it.
func SyncTogether(list []*Txn) {
	begun, lasting := time.Now(), make(map[folderID]bool)
	for _, x := range list {
		now, err := x.at.sys.Fstat(x.at.dir)
		id := folderID{now.Dev, now.Ino}
		synced, known := lasting[id]
		if !known || err != nil {
			synced = x.at.syncFolder(x.at.dir)
			lasting[id] = synced
		}
		x.lasting = synced
	}
	if time.Since(begun) < openWithin/10 {
		time.Sleep(openWithin)
	}
}
